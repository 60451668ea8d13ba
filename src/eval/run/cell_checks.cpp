// SPDX-License-Identifier: Apache-2.0
#include "eval/run/cell_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "check/activation_check.h"
#include "eval/plan/workspace_cell.h"
#include "util/text.h"

namespace upskill {

namespace {

// The calls of a transcript, and those that it has no room for.
CheckedCalls CallsOf(const WorkRecord& work) {
  CheckedCalls calls;
  for (const auto& [tool, count] : work.tools) calls.unlisted[tool] = static_cast<std::size_t>(std::max(count, 0));
  for (const Json& turn : work.transcript) {
    const Json& of_turn = Member(turn, "calls");
    if (!of_turn.is_array()) continue;
    for (const Json& call : of_turn) {
      CheckedCall listed{StringAt(call, "name"), StringAt(call, "arguments"), false};
      listed.cut = IsWithoutMiddle(listed.arguments);
      auto rest = calls.unlisted.find(listed.tool);
      if (rest == calls.unlisted.end())
        rest = calls.unlisted.find(ReplaceInvalidUtf8(std::string_view(listed.tool).substr(0, kMaxToolName)));
      if (rest != calls.unlisted.end() && rest->second > 0) --rest->second;
      calls.listed.push_back(std::move(listed));
    }
  }
  std::erase_if(calls.unlisted, [](const auto& entry) { return entry.second == 0; });
  return calls;
}

// Nothing for an answer in words.
std::optional<CheckedWork> WorkToCheck(const Case& test_case, const ChatResponse& response) {
  std::optional<WorkspaceFiles> files = FinalFiles(test_case, response);
  if (!files) return std::nullopt;
  return CheckedWork{*std::move(files), CallsOf(*response.work)};
}

}  // namespace

Result<CellChecks> CellChecks::Make(const Case& test_case, const Sandbox& sandbox, bool has_judge) {
  ASSIGN_OR_RETURN(CaseChecks checks, CaseChecks::Make(test_case, sandbox, has_judge));
  return CellChecks(test_case, std::move(checks));
}

std::vector<CheckResult> CellChecks::Run(const Sample& sample, const StopFlag* stop) const {
  const std::optional<CheckedWork> done = WorkToCheck(*case_, sample.response);
  std::vector<CheckResult> results = checks_.Run(sample.response.text, stop, done ? &*done : nullptr);
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
  const std::optional<CheckedWork> done = WorkToCheck(*case_, sample.response);
  return checks_.QuestionsAbout(sample.response.text, sample.checks, done ? &*done : nullptr);
}

std::vector<CheckResult> CellChecks::RunJudged(const Sample& sample, const Judgments& judgments,
                                               const StopFlag* stop) const {
  const std::optional<CheckedWork> done = WorkToCheck(*case_, sample.response);
  return checks_.RunJudged(sample.response.text, sample.checks, judgments, stop, done ? &*done : nullptr);
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
