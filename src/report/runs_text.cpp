// SPDX-License-Identifier: Apache-2.0
#include "report/runs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "report/table.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string CsvText(const std::string& text) {
  std::string safe = text;
  if (!safe.empty() && std::string_view("=+-@\t\r").find(safe.front()) != std::string_view::npos) safe.insert(0, "'");
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string CsvNumber(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

const ArmSummary* ArmOf(const RunRow& row, Arm arm) {
  const auto found = row.student.arms.find(arm);
  return found == row.student.arms.end() ? nullptr : &found->second;
}

std::string RateText(const ArmSummary* arm) {
  if (arm == nullptr || !arm->rate()) return "–";
  return fmt::format("{} ({}/{})", PercentText(*arm->rate()), arm->passed, arm->answered);
}

std::string PointsText(const std::optional<double>& lift) {
  if (!lift) return "–";
  const double points = std::round(*lift * 100.0);
  return fmt::format("{}{:.0f}", points > 0 ? "+" : "", points == 0 ? 0.0 : points);
}

std::string MetricLine(const ArmSummary& arm, const char* label, RunMetric metric, double most, const Style& style) {
  const std::size_t cells = style.columns >= 70 ? 20 : 10;
  if (metric == RunMetric::kSuccess) {
    return fmt::format("  {:<10}  {} {:>6}   {}/{}\n", label, Bar(arm.rate().value_or(0.0), cells),
                       arm.rate() ? PercentText(*arm.rate()) : "–", arm.passed, arm.answered);
  }
  const double mean = arm.mean_output_tokens().value_or(0.0);
  return fmt::format("  {:<10}  {} {:>6.0f}   tokens per answer\n", label, Bar(most > 0 ? mean / most : 0.0, cells), mean);
}

}  // namespace

std::vector<RunRow> RowsOf(const Plan& plan, const RunSummary& summary) {
  std::vector<RunRow> rows;
  for (const StudentSummary& student : summary.students) {
    RunRow row{plan.run, plan.created, plan.skill.name, student, 0, 0};
    for (const auto& [arm, entry] : student.arms) {
      row.cells += entry.cells;
      row.answered += entry.answered;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string RunBars(const std::vector<RunRow>& rows, RunMetric metric, const Style& style) {
  std::map<std::pair<std::string, std::string>, const RunRow*> newest;
  double most = 0.0;
  for (const RunRow& row : rows) newest[{row.skill, row.student.student.name}] = &row;
  for (const auto& [key, row] : newest) {
    for (const auto& [arm, entry] : row->student.arms) most = std::max(most, entry.mean_output_tokens().value_or(0.0));
  }
  std::string out;
  std::string skill;
  for (const auto& [key, row] : newest) {
    if (key.first != skill || out.empty()) {
      skill = key.first;
      out += (out.empty() ? "" : "\n") + Tinted(style, Tint::kBold, SafeForTerminalLine(skill)) + "\n";
    }
    out += fmt::format("{}   {}\n", SafeForTerminalLine(key.second), Tinted(style, Tint::kDim, "run " + SafeForTerminalLine(row->run)));
    if (const ArmSummary* arm = ArmOf(*row, Arm::kBaseline)) out += MetricLine(*arm, "baseline", metric, most, style);
    if (const ArmSummary* arm = ArmOf(*row, Arm::kSkill)) out += MetricLine(*arm, "with skill", metric, most, style);
    if (row->student.lift) out += fmt::format("  {:<10}  {} points\n", "lift", PointsText(row->student.lift));
  }
  return out;
}

std::string RunTable(const std::vector<RunRow>& rows, const Style& style) {
  Table table({{"run", Table::Align::kLeft},
               {"skill", Table::Align::kLeft, true},
               {"model", Table::Align::kLeft, true},
               {"baseline", Table::Align::kRight},
               {"with skill", Table::Align::kRight},
               {"lift", Table::Align::kRight},
               {"cells", Table::Align::kRight}});
  for (const RunRow& row : rows) {
    table.AddRow({SafeForTerminalLine(row.run), SafeForTerminalLine(row.skill), SafeForTerminalLine(row.student.student.name),
                  RateText(ArmOf(row, Arm::kBaseline)), RateText(ArmOf(row, Arm::kSkill)), PointsText(row.student.lift),
                  fmt::format("{}/{}", row.answered, row.cells)});
  }
  return table.Render(style);
}

std::string RunCsv(const std::vector<RunRow>& rows) {
  std::string out = "run,created,skill,model,arm,cells,answered,errors,passed,pass_rate,checks_passed,checks_total,prompt_tokens,output_tokens,lift\r\n";
  for (const RunRow& row : rows) {
    for (const auto& [arm, entry] : row.student.arms) {
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", CsvText(row.run), CsvText(row.created), CsvText(row.skill),
                         CsvText(row.student.student.name), ArmName(arm), entry.cells, entry.answered, entry.errors,
                         entry.passed, CsvNumber(entry.rate()), entry.checks_passed, entry.checks_total,
                         entry.prompt_tokens, entry.output_tokens, CsvNumber(row.student.lift));
    }
  }
  return out;
}

}  // namespace upskill
