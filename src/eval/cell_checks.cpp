// SPDX-License-Identifier: Apache-2.0
#include "eval/cell_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "check/activation_check.h"
#include "eval/workspace_cell.h"

namespace upskill {

Result<CellChecks> CellChecks::Make(const Case& test_case, const Sandbox& sandbox, bool has_judge) {
  ASSIGN_OR_RETURN(CaseChecks checks, CaseChecks::Make(test_case, sandbox, has_judge));
  return CellChecks(test_case, std::move(checks));
}

std::vector<CheckResult> CellChecks::Run(const Sample& sample, const StopFlag* stop) const {
  const std::optional<WorkspaceFiles> files = FinalFiles(*case_, sample.response);
  std::vector<CheckResult> results = checks_.Run(sample.response.text, stop, files ? &*files : nullptr);
  const std::optional<WorkRecord>& work = sample.response.work;
  if (!work || !work->skill) return results;
  const std::vector<std::string>& read = work->skill->read;
  const bool was_read = std::find(read.begin(), read.end(), "SKILL.md") != read.end();
  for (std::size_t i = 0; i < results.size() && i < case_->checks.size(); ++i) {
    if (IsActivationCheck(case_->checks[i])) results[i] = ActivationResult(case_->checks[i], was_read);
  }
  return results;
}

std::vector<AskedQuestion> CellChecks::QuestionsAbout(const Sample& sample) const {
  const std::optional<WorkspaceFiles> files = FinalFiles(*case_, sample.response);
  return checks_.QuestionsAbout(sample.response.text, sample.checks, files ? &*files : nullptr);
}

std::vector<CheckResult> CellChecks::RunJudged(const Sample& sample, const Judgments& judgments,
                                               const StopFlag* stop) const {
  const std::optional<WorkspaceFiles> files = FinalFiles(*case_, sample.response);
  return checks_.RunJudged(sample.response.text, sample.checks, judgments, stop, files ? &*files : nullptr);
}

std::string CellChecks::WhyUndecided(const Sample& sample) const {
  const auto first = [&sample](Outcome outcome) {
    return std::find_if(sample.checks.begin(), sample.checks.end(),
                        [outcome](const CheckResult& check) { return check.outcome == outcome; });
  };
  const auto skipped = first(Outcome::kSkip);  // which doesn't matter where another check fails
  if (!executes() || skipped == sample.checks.end() || first(Outcome::kFail) != sample.checks.end()) return "";
  return fmt::format("{}: {}", skipped->name, skipped->detail);
}

}  // namespace upskill
