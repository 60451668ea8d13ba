// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/literal_search.h"
#include "skill/check_types.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kRefusal = "I'm sorry, but I can't help with that.";

std::string Shown(std::string_view text) { return ExcerptLine(text, 80); }

// The user's message, files included, as a model would echo it.
std::string Echo(const Case& test_case) {
  std::string echo = test_case.input;
  for (const auto& [name, text] : test_case.files) {
    const std::string fence = FenceFor(text);
    echo += fmt::format("\n\n{}{}\n{}\n{}", fence, name, text, fence);
  }
  return echo;
}

std::vector<std::string> FindTrivialAnswers(const Case& test_case, const CaseChecks& checks) {
  std::vector<std::string> found;
  if (AllPass(checks.Run(""))) found.emplace_back("an empty answer passes");
  if (AllPass(checks.Run(Echo(test_case)))) found.emplace_back("an echo of the input passes");
  if (test_case.fill && AllPass(checks.Run(test_case.fill->gap))) found.emplace_back("the file with its gap passes");
  if (AllPass(checks.Run(kRefusal))) found.push_back(fmt::format("a plain refusal passes (\"{}\")", kRefusal));
  return found;
}

std::vector<std::string> FindReferenceFailures(const Case& test_case, const CaseChecks& checks) {
  std::vector<std::string> found;
  if (test_case.reference.empty()) return found;
  for (const CheckResult& result : checks.Run(test_case.reference)) {
    if (result.outcome == Outcome::kFail)
      found.push_back(fmt::format("the reference fails the check {}: {}", result.name, result.detail));
    if (result.outcome == Outcome::kSkip && checks.executes())
      found.push_back(fmt::format("the check {} can't run here: {}", result.name, result.detail));
  }
  return found;
}

std::string LabelOf(const Case& test_case) {
  return test_case.place.empty() ? fmt::format("case \"{}\"", Shown(test_case.id)) : test_case.place;
}

bool LooksForStrings(const CheckSpec& spec) {
  const CheckType* const type = FindCheckType(spec.type);
  return type != nullptr && type->wants_value();
}

void AddExpectedStrings(const std::vector<CheckSpec>& checks, LiteralSearch& search,
                        std::vector<const std::string*>& values) {
  for (const CheckSpec& spec : checks) {
    AddExpectedStrings(spec.members, search, values);
    if (!LooksForStrings(spec)) continue;
    for (const std::string& value : spec.values) {
      search.Add(ReplaceInvalidUtf8(value));
      values.push_back(&value);
    }
  }
}

std::vector<std::string> FindGivenAwayStrings(const Case& test_case) {
  LiteralSearch search;
  std::vector<const std::string*> values;
  AddExpectedStrings(test_case.checks, search, values);
  search.Finish();
  const std::vector<bool> in_input = search.FindIn(ReplaceInvalidUtf8(test_case.input));
  std::vector<std::string> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (in_input[i]) found.push_back(fmt::format("the expected string \"{}\" occurs in the input", Shown(*values[i])));
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> FindCaseWeaknesses(const Case& test_case, const Sandbox& sandbox, bool run) {
  ASSIGN_OR_RETURN(const CaseChecks checks, CaseChecks::Make(test_case, sandbox));
  std::vector<std::string> weaknesses;
  if (run || !checks.executes()) {
    weaknesses = FindReferenceFailures(test_case, checks);
    for (std::string& weakness : FindTrivialAnswers(test_case, checks)) weaknesses.push_back(std::move(weakness));
  }
  for (std::string& weakness : FindGivenAwayStrings(test_case)) weaknesses.push_back(std::move(weakness));
  return weaknesses;
}

Result<std::vector<std::string>> LeaveOutCasesThatCannotPass(Suite& suite, const Sandbox& sandbox, bool has_judge,
                                                             CaseMode mode) {
  std::vector<std::string> left_out;
  std::string first_check;
  std::vector<Case> kept;
  for (Case& test_case : suite.cases) {
    const CaseMode own = test_case.mode;
    if (mode != CaseMode::kUnset) test_case.mode = mode;
    ASSIGN_OR_RETURN(const CaseChecks checks, CaseChecks::Make(test_case, sandbox, has_judge));
    test_case.mode = own;
    const std::string reason = checks.WhyNoneCanPass();
    if (reason.empty()) {
      kept.push_back(std::move(test_case));
      continue;
    }
    left_out.push_back(fmt::format("{} is left out: its check {}", LabelOf(test_case), reason));
    if (first_check.empty())
      first_check = fmt::format("{}: no case can be run, because its check {}", LabelOf(test_case), reason);
  }
  if (kept.empty()) {
    return InputError(first_check.empty() ? fmt::format("{}: no case can be run: there are none", suite.source.string())
                                          : first_check);
  }
  suite.cases = std::move(kept);
  return left_out;
}

Result<std::vector<std::string>> FindSuiteWeaknesses(const Suite& suite, const StopFlag* stop, const Sandbox& sandbox) {
  std::vector<std::string> weaknesses;
  std::map<std::string, std::string> label_of_input;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (stop != nullptr && stop->load() > 0) break;
    const Case& test_case = suite.cases[i];
    const std::string numbered = fmt::format("case {} (\"{}\")", i + 1, Shown(test_case.id));
    const std::string& label = test_case.place.empty() ? numbered : test_case.place;
    ASSIGN_OR_RETURN(const std::vector<std::string> found, FindCaseWeaknesses(test_case, sandbox));
    for (const std::string& weakness : found) weaknesses.push_back(fmt::format("{}: {}", label, weakness));
    const auto [other, is_new] = label_of_input.emplace(Trim(Echo(test_case)), numbered);
    if (!is_new) weaknesses.push_back(fmt::format("{}: has the same input as {}", label, other->second));
  }
  return weaknesses;
}

}  // namespace upskill
