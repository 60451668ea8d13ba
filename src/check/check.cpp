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

// Each result of a check is journaled with each answer.
constexpr std::size_t kMaxChecks = 20'000;
constexpr std::size_t kMaxStrings = 20'000;
constexpr std::size_t kMaxStringBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxPatterns = 500;

Result<std::unique_ptr<Check>> MakeOfKind(CheckKind kind, const CheckSpec& spec, LiteralSearch& strings) {
  switch (kind) {
    case CheckKind::kContains:
      return MakeContains(spec, strings);
    case CheckKind::kNotContains:
      return MakeNotContains(spec, strings);
    case CheckKind::kAnyOf:
      return MakeAnyOf(spec, strings);
    case CheckKind::kEquals:
      return MakeEquals(spec);
    case CheckKind::kRegex:
      return MakeRegex(spec);
  }
  return InputError("unknown check type");
}

Status CheckSizeOf(const Case& test_case) {
  std::size_t strings = 0;
  std::size_t bytes = 0;
  std::size_t patterns = 0;
  for (const CheckSpec& spec : test_case.checks) {
    strings += spec.values.size();
    for (const std::string& value : spec.values) bytes += value.size();
    patterns += spec.pattern.empty() ? 0 : 1;
  }
  const auto too_many = [](std::size_t most, const char* what) {
    return InputError(fmt::format("more than {} {}, the maximum for a case; divide it into several cases",
                                  WithThousands(static_cast<long long>(most)), what));
  };
  if (test_case.checks.size() > kMaxChecks) return too_many(kMaxChecks, "checks");
  if (strings > kMaxStrings) return too_many(kMaxStrings, "strings to look for");
  if (bytes > kMaxStringBytes) return too_many(kMaxStringBytes, "bytes of strings to look for");
  if (patterns > kMaxPatterns) return too_many(kMaxPatterns, "regex checks");
  return {};
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

Result<std::unique_ptr<Check>> MakeCheck(const CheckSpec& spec, LiteralSearch& strings) {
  const CheckType* const type = FindCheckType(spec.type);
  if (type == nullptr) {
    return InputError(fmt::format("unknown check type \"{}\"", spec.type));
  }
  return MakeOfKind(type->kind, spec, strings);
}

Result<CaseChecks> CaseChecks::Make(const Case& test_case) {
  const std::string label = fmt::format("case \"{}\"", test_case.id);
  if (test_case.checks.empty()) return InputError(label + ": no checks");
  RETURN_IF_ERROR(CheckSizeOf(test_case).With(label));
  CaseChecks made;
  made.output_file_ = test_case.output_file;
  for (const CheckSpec& spec : test_case.checks) {
    ASSIGN_OR_RETURN(std::unique_ptr<Check> check, MakeCheck(spec, made.strings_).With(label));
    made.checks_.push_back(std::move(check));
  }
  made.strings_.Finish();
  return made;
}

std::vector<CheckResult> CaseChecks::Run(std::string_view answer) const {
  std::string content;
  if (!output_file_.empty()) answer = content = OutputFileContent(answer, output_file_);
  std::string replaced;
  if (FindInvalidUtf8(answer)) answer = replaced = ReplaceInvalidUtf8(answer);
  const std::vector<bool> found = strings_.FindIn(answer);
  std::vector<CheckResult> results;
  results.reserve(checks_.size());
  for (const auto& check : checks_) results.push_back(check->Run({answer, found}));
  return results;
}

bool AllPass(const std::vector<CheckResult>& results) {
  // Without any check, nothing has been shown.
  if (results.empty()) return false;
  return std::all_of(results.begin(), results.end(), [](const CheckResult& r) { return r.outcome == Outcome::kPass; });
}

}  // namespace upskill
