// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/terminal/figures.h"
#include "util/text.h"

namespace upskill {
namespace {

// What spreadsheets take for the beginning of a formula; some of them also in its full-width form, ＝＋－＠.
bool LooksLikeFormula(std::string_view text) {
  constexpr std::array<std::string_view, 11> kBeginnings = {"=",  "+",  "-",  "@",  "\t", "\n",
                                                            "\r", "＝", "＋", "－", "＠"};
  const std::string_view rest = text.substr(std::min(text.find_first_not_of('\''), text.size()));
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return rest.starts_with(beginning); });
}

// Line ends and tabs stay. A carriage return by itself doesn't: a terminal would write over the line.
std::string WithVisibleControls(std::string_view text) {
  constexpr std::string_view kLineEnd = "\r\n";
  std::string out;
  for (std::size_t end = text.find(kLineEnd); end != std::string_view::npos; end = text.find(kLineEnd)) {
    out += SafeForTerminal(text.substr(0, end));
    out += kLineEnd;
    text.remove_prefix(end + kLineEnd.size());
  }
  return out + SafeForTerminal(text);
}

// The names of the checks that didn't pass.
std::string FailedChecks(const Sample& sample) {
  constexpr std::size_t kMostNames = 20;
  std::string names;
  std::size_t count = 0;
  for (const CheckResult& check : sample.checks) {
    if (check.outcome == Outcome::kPass || ++count > kMostNames) continue;
    names += (names.empty() ? "" : "; ") + check.name;
  }
  return count > kMostNames ? fmt::format("{}; and {} more", names, count - kMostNames) : names;
}

// What the checks of each case do, by id.
std::map<std::string_view, std::string_view> CheckKinds(const Plan& plan) {
  std::map<std::string_view, std::string_view> kinds;
  for (const Case& test_case : plan.suite.cases) kinds.emplace(test_case.id, CheckKindOf(test_case));
  return kinds;
}

// The judge of the answer and what it cost: `,NAME,COST`.
std::string JudgeFields(const Plan& plan, const Sample& sample) {
  if (!plan.judge || sample.judgments.empty()) return ",,";
  std::optional<double> cost = 0.0;
  for (const StoredJudgment& judgment : sample.judgments)
    cost = cost && judgment.cost_usd ? std::optional(*cost + *judgment.cost_usd) : std::nullopt;
  return fmt::format(",{},{}", CsvField(plan.judge->name), cost ? fmt::format("{:.6g}", *cost) : "");
}

void AddRow(std::string& out, const JudgedRun& run, const Sample& sample, std::string_view kind) {
  const ChatResponse& response = sample.response;
  const auto passed = std::count_if(sample.checks.begin(), sample.checks.end(),
                                    [](const CheckResult& check) { return check.outcome == Outcome::kPass; });
  out += fmt::format("{},{},{},{},{},{},", CsvField(run.plan().run), CsvField(sample.student), CsvField(sample.case_id),
                     ArmName(sample.arm), sample.round + 1, sample.ok() ? "ok" : "error");
  if (!sample.ok()) {
    out += fmt::format(",,,,,,,,,,{},{}{}\r\n", CsvField(sample.error->message), kind, JudgeFields(run.plan(), sample));
    return;
  }
  const std::string cost = response.cost_usd ? fmt::format("{:.6g}", *response.cost_usd) : "";
  const Usage& usage = response.usage;
  const std::string tokens =
      ReportsTokens(sample) ? fmt::format("{},{},{}", usage.prompt(), usage.cache_read, usage.output) : ",,";
  out += fmt::format("{},{},{},{:.3f},{},{},{},{},{},{}{}\r\n", sample.passed(), StopReasonName(response.stop), tokens,
                     response.seconds, cost, passed, sample.checks.size(), CsvField(FailedChecks(sample)),
                     CsvField(response.text), kind, JudgeFields(run.plan(), sample));
}

}  // namespace

std::string CsvField(std::string_view text) {
  std::string safe = WithVisibleControls(text);
  if (LooksLikeFormula(safe)) safe.insert(0, "'");
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

Status WriteSamplesCsv(std::span<const JudgedRun> runs, const std::function<Status(std::string_view)>& write) {
  constexpr std::size_t kBlock = 1U << 20U;  // written at once, or the next row's end
  std::string out =
      "run,model,case,arm,round,status,passed,stop,prompt_tokens,cached_tokens,output_tokens,seconds,cost_usd,checks_"
      "passed,checks_total,failed_checks,answer,check_kind,judge,judge_cost_usd\r\n";
  Status status;
  for (const JudgedRun& run : runs) {
    const std::map<std::string_view, std::string_view> kinds = CheckKinds(run.plan());
    VisitSamplesByCase(run.data, [&](const Sample& sample) {
      if (!status) return;
      const auto kind = kinds.find(sample.case_id);
      AddRow(out, run, sample, kind == kinds.end() ? "" : kind->second);
      if (out.size() < kBlock) return;
      status = write(out);
      out.clear();
    });
  }
  if (!status) return status;
  return write(out);
}

std::string SamplesCsv(std::span<const JudgedRun> runs) {
  std::string out;
  static_cast<void>(WriteSamplesCsv(runs, [&out](std::string_view rows) {
    out += rows;
    return Status();
  }));
  return out;
}

}  // namespace upskill
