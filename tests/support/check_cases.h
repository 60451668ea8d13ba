// SPDX-License-Identifier: Apache-2.0
// Checks as suites state them, run on an answer.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "skill/check_reader.h"
#include "util/json.h"

namespace upskill {

inline CheckSpec SpecFrom(const std::string& json) {
  std::vector<std::string> warnings;
  Result<CheckSpec> spec = ReadCheck(Json::parse(json), warnings);
  EXPECT_TRUE(spec.ok()) << json << ": " << (spec ? "" : spec.error().message);
  return spec ? std::move(*spec) : CheckSpec();
}

inline Result<CaseChecks> ChecksOf(const CheckSpec& spec) {
  Case test_case;
  test_case.id = "c";
  test_case.checks = {spec};
  return CaseChecks::Make(test_case);
}

inline CheckResult ResultOf(const CheckSpec& spec, std::string_view answer) {
  const Result<CaseChecks> checks = ChecksOf(spec);
  EXPECT_TRUE(checks.ok()) << (checks ? "" : checks.error().message);
  if (!checks) return {};
  CheckResult result = checks->Run(answer).front();
  EXPECT_EQ(result.outcome == Outcome::kPass, result.detail.empty()) << result.name;
  return result;
}

inline bool Passes(const CheckSpec& spec, std::string_view answer) {
  return ResultOf(spec, answer).outcome == Outcome::kPass;
}

inline std::string DetailOf(const CheckSpec& spec, std::string_view answer) { return ResultOf(spec, answer).detail; }

// Why the check can't be made.
inline std::string ErrorOf(const CheckSpec& spec) {
  const Result<CaseChecks> checks = ChecksOf(spec);
  EXPECT_FALSE(checks.ok()) << spec.type;
  return checks ? "" : checks.error().message;
}

}  // namespace upskill
