// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/text_checks.h"
#include "skill/check_types.h"
#include "util/text.h"

namespace upskill {
namespace {

Result<std::unique_ptr<Check>> MakeOfKind(CheckKind kind, const CheckSpec& spec) {
  switch (kind) {
    case CheckKind::kContains:
      return MakeContains(spec);
    case CheckKind::kNotContains:
      return MakeNotContains(spec);
    case CheckKind::kAnyOf:
      return MakeAnyOf(spec);
    case CheckKind::kEquals:
      return MakeEquals(spec);
    case CheckKind::kRegex:
      return MakeRegex(spec);
  }
  return InputError("unknown check type");
}

}  // namespace

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kFail:
      return "fail";
    case Outcome::kSkip:
      return "skip";
  }
  return "unknown";
}

Result<Outcome> OutcomeFromName(std::string_view name) {
  for (const Outcome outcome : {Outcome::kPass, Outcome::kFail, Outcome::kSkip}) {
    if (name == OutcomeName(outcome)) return outcome;
  }
  return InputError(fmt::format("unknown check outcome \"{}\"; expected pass, fail or skip", name));
}

Result<std::unique_ptr<Check>> MakeCheck(const CheckSpec& spec) {
  const CheckType* const type = FindCheckType(spec.type);
  if (type == nullptr) {
    return InputError(fmt::format("unknown check type \"{}\"", spec.type));
  }
  return MakeOfKind(type->kind, spec);
}

Result<CaseChecks> CaseChecks::Make(const Case& test_case) {
  const std::string label = fmt::format("case \"{}\"", test_case.id);
  if (test_case.checks.empty()) return InputError(label + ": no checks");
  CaseChecks made;
  made.output_file_ = test_case.output_file;
  for (const CheckSpec& spec : test_case.checks) {
    ASSIGN_OR_RETURN(std::unique_ptr<Check> check, MakeCheck(spec).With(label));
    made.checks_.push_back(std::move(check));
  }
  return made;
}

std::vector<CheckResult> CaseChecks::Run(std::string_view answer) const {
  std::string content;
  if (!output_file_.empty()) answer = content = OutputFileContent(answer, output_file_);
  std::vector<CheckResult> results;
  results.reserve(checks_.size());
  for (const auto& check : checks_) results.push_back(check->Run(answer));
  return results;
}

bool AllPass(const std::vector<CheckResult>& results) {
  // Without any check, nothing has been shown.
  if (results.empty()) return false;
  return std::all_of(results.begin(), results.end(), [](const CheckResult& r) { return r.outcome == Outcome::kPass; });
}

}  // namespace upskill
