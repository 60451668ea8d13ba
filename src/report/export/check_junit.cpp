// SPDX-License-Identifier: Apache-2.0
#include "report/export/check_junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "check/command_check.h"
#include "report/export/junit_writer.h"

namespace upskill {
namespace {

using Judged = AnswerReport::Word;
using CaseOutcome = JUnitCase::Outcome;

// Why the answer's outcome is open.
std::string WhyNotChecked(const AnswerReport& answer) {
  if (answer.results.empty()) return "stopped before it was tried";
  for (const CheckResult& result : answer.results) {
    if (result.outcome == Outcome::kSkip) return result.name + ": " + result.detail;
  }
  return "a check could not run";
}

void LeaveOpen(std::string message, bool strict, JUnitCase& out) {
  out.outcome = strict ? CaseOutcome::kFailed : CaseOutcome::kSkipped;
  out.type = "strict";
  out.message = std::move(message);
}

JUnitCase AnswerCase(const AnswerReport& answer, bool strict) {
  JUnitCase out;
  out.name = answer.name;
  out.seconds = answer.seconds;
  switch (answer.word) {
    case Judged::kAsExpected:
      break;
    case Judged::kNotAsExpected:
      out.outcome = CaseOutcome::kFailed;
      out.type = std::any_of(answer.results.begin(), answer.results.end(), ReachedTimeLimit) ? "time_limit" : "answer";
      out.message = answer.problem;
      for (const CheckResult& result : answer.results)
        out.body += fmt::format("{} {}{}{}\n", OutcomeName(result.outcome), result.name,
                                result.detail.empty() ? "" : ": ", result.detail);
      break;
    case Judged::kNotChecked:
      LeaveOpen(WhyNotChecked(answer), strict, out);
      break;
  }
  return out;
}

void AddCases(const CaseReport& one, const std::string& prefix, bool strict, JUnitSuite& suite) {
  const auto add = [&](JUnitCase added) {
    added.classname = prefix + one.id;
    suite.cases.push_back(std::move(added));
  };
  for (const AnswerReport& answer : one.answers) add(AnswerCase(answer, strict));
  if (one.answers.empty()) {
    JUnitCase none;
    none.name = "reference";
    LeaveOpen("the case has no answer to try", strict, none);
    add(std::move(none));
  }
  if (!one.weaknesses.empty()) {
    JUnitCase weak;
    weak.name = "weaknesses";
    weak.outcome = CaseOutcome::kFailed;
    weak.type = "weakness";
    weak.message = one.weaknesses.front();
    weak.body = fmt::format("{}\n", fmt::join(one.weaknesses, "\n"));
    add(std::move(weak));
  }
}

}  // namespace

std::string CheckJUnitXml(const Suite& suite, const SuiteReport& report, bool strict) {
  JUnitSuite out;
  out.name = suite.source.string();
  const std::string folder = suite.source.parent_path().filename().string();
  const std::string prefix = folder.empty() ? "" : folder + ".";
  for (const CaseReport& one : report.cases) AddCases(one, prefix, strict, out);
  for (std::size_t i = 0; strict && i < suite.warnings.size(); ++i) {
    JUnitCase warning;
    warning.classname = prefix + suite.source.filename().string();
    warning.name = fmt::format("warning {}", i + 1);
    warning.outcome = CaseOutcome::kFailed;
    warning.type = "strict";
    warning.message = suite.warnings[i];
    out.cases.push_back(std::move(warning));
  }
  return JUnitDocument({out});
}

}  // namespace upskill
