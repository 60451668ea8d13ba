// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/runs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/terminal/columns.h"
#include "report/terminal/csv.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/figures.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kNarrow = 100;  // columns

// What the metric tells of one answer on average; nothing when that is unknown.
std::optional<double> MetricOf(const ArmSummary& arm, RunMetric metric) {
  switch (metric) {
    case RunMetric::kSuccess:
      return arm.rate();
    case RunMetric::kTokens:
      return arm.mean_output_tokens();
    case RunMetric::kCost:
      return arm.mean_cost_usd();
    case RunMetric::kTime:
      return arm.answered > 0 ? std::optional(arm.seconds / static_cast<double>(arm.answered)) : std::nullopt;
  }
  return std::nullopt;
}

std::string MetricText(const ArmSummary& arm, RunMetric metric, bool is_free) {
  const std::optional<double> value = MetricOf(arm, metric);
  switch (metric) {
    case RunMetric::kSuccess:
      return fmt::format("{:>6}   {}/{}", value ? PercentText(*value) : "–", arm.passed, arm.answered);
    case RunMetric::kTokens:
      return value ? fmt::format("{:>6.0f}   tokens per answer", *value)
                   : fmt::format("{:>6}   tokens per answer", arm.answered > 0 ? "unknown" : "–");
    case RunMetric::kCost:
      if (is_free) return fmt::format("{:>9}   per answer", "free");
      return value ? fmt::format("{:>9}   per answer", MoneyText(*value))
                   : fmt::format("{:>9}   cost per answer", "unknown");
    case RunMetric::kTime:
      return fmt::format("{:>6.1f}   seconds per answer", value.value_or(0.0));
  }
  return "";
}

TerminalText MetricLine(const RunRow& row, Arm of, RunMetric metric, double most, const Style& style) {
  const ArmSummary* arm = ArmOf(row.student, of);
  if (arm == nullptr) return "";
  const std::size_t cells = style.columns >= 70 ? 20 : 10;
  const double full = metric == RunMetric::kSuccess ? 1.0 : most;
  const double share = full > 0 ? MetricOf(*arm, metric).value_or(0.0) / full : 0.0;
  return TerminalText::Format("  {:<10}  {} {}\n", of == Arm::kPrevious ? ArmName(of) : ArmLabel(of), Bar(share, cells),
                              MetricText(*arm, metric, IsFree(row.student.student, row.verdict)));
}

}  // namespace

std::string RunLabel(const RunRow& row) { return row.part.empty() ? row.run : row.run + " shard " + row.part; }

std::vector<RunRow> RowsOf(const JudgedRun& run) {
  std::vector<RunRow> rows;
  for (std::size_t i = 0; i < run.summary.students.size(); ++i) {
    const StudentSummary& student = run.summary.students[i];
    RunRow row{run.plan().run,  run.plan().created, run.plan().skill.name, student, run.verdicts[i], 0, 0, "",
               run.plan().trial};
    row.rechecked = !run.plan().rechecked_from.empty();
    if (const Shard& shard = run.plan().shard; shard.of > 1) row.part = fmt::format("{}/{}", shard.index + 1, shard.of);
    for (const auto& [arm, entry] : student.arms) {
      row.cells += entry.cells;
      row.answered += entry.answered;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TerminalText RunBars(const std::vector<RunRow>& rows, RunMetric metric, const Style& style) {
  std::map<std::tuple<std::string, std::string, std::string>, const RunRow*> newest;
  double most = 0.0;
  for (const RunRow& row : rows) {
    const RunRow*& shown = newest[{row.skill, row.student.student.spec, row.student.student.name}];
    if (shown == nullptr || row.lift() || !shown->lift()) shown = &row;
  }
  for (const auto& [key, row] : newest) {
    for (const auto& [arm, entry] : row->student.arms) most = std::max(most, MetricOf(entry, metric).value_or(0.0));
  }
  TerminalText out;
  std::string skill;
  for (const auto& [key, row] : newest) {
    if (row->skill != skill || out.empty()) {
      skill = row->skill;
      if (!out.empty()) out += "\n";
      out += Tinted(style, Tint::kBold, TerminalText::EscapeLine(skill)) + "\n";
    }
    const std::string open =
        row->answered == row->cells ? "" : fmt::format(" · {} of {} answered", row->answered, row->cells);
    out += TerminalText::Format("{}   {}\n", row->student.student.name,
                                Tinted(style, Tint::kDim, TerminalText::EscapeLine("run " + RunLabel(*row) + open)));
    for (const Arm arm : {row->reference(), Arm::kSkill}) out += MetricLine(*row, arm, metric, most, style);
    if (const std::optional<double> lift = row->shown_lift())
      out += TerminalText::Format("  {:<10}  {}\n", "lift", LiftLine(row->verdict, *lift, style));
  }
  return out;
}

TerminalText RunTable(const std::vector<RunRow>& rows, const Style& style) {
  std::vector<StudentRow> shown;
  shown.reserve(rows.size());
  for (const RunRow& row : rows)
    shown.push_back({row.student, row.verdict, Arm::kBaseline, style.columns >= kNarrow, &row});
  return StudentTable(&StudentColumn::runs, shown, style);
}

std::string RunCsv(const std::vector<RunRow>& rows) {
  std::string out = "run,created,skill,model,arm,";
  for (const ArmColumn& column : ArmColumns()) {
    if (column.csv != nullptr) out += std::string(column.csv) + ",";
  }
  out += "lift,lift_low,lift_high,verdict\r\n";
  for (const RunRow& row : rows) {
    for (const auto& [arm, entry] : row.student.arms) {
      out += fmt::format("{},{},{},{},{},", CsvField(row.run), CsvField(row.created), CsvField(row.skill),
                         CsvField(row.student.student.name), ArmName(arm));
      for (const ArmColumn& column : ArmColumns()) {
        if (column.csv != nullptr) out += CsvValue(column.value(entry)) + ",";
      }
      for (const std::optional<double>& value : {row.lift(), row.verdict.low, row.verdict.high})
        out += CsvValue(JsonOrNull(value)) + ",";
      out += row.lift() ? VerdictName(row.verdict.word) : "";
      out += "\r\n";
    }
  }
  return out;
}

}  // namespace upskill
