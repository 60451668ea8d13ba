// SPDX-License-Identifier: Apache-2.0
// Checks take time for the size of what they look at, not for its product with the number of checks.
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "support/work_meter.h"

namespace upskill {
namespace {

std::string ExpectedWord(std::size_t number) { return "expected-" + std::to_string(number * 7919) + ";"; }

// A case with `count` expected strings, all of them in its reference.
Case CaseWithStrings(std::size_t count) {
  Case test_case;
  test_case.id = "c";
  test_case.input = "Say them";
  for (std::size_t i = 0; i < count; ++i) {
    test_case.checks.push_back({"contains", {ExpectedWord(i)}, ""});
    test_case.reference += ExpectedWord(i);
  }
  return test_case;
}

TEST(CaseChecks, WorkGrowsInStepWithStringsAndAnswer) {
  EXPECT_LT(GrowthPerDoubling(500,
                              [](std::size_t count) {
                                return [test_case = CaseWithStrings(count)] {
                                  const Result<CaseChecks> checks = CaseChecks::Make(test_case);
                                  ASSERT_TRUE(checks.ok());
                                  EXPECT_TRUE(AllPass(checks->Run(test_case.reference)));
                                };
                              }),
            kMaxGrowthPerDoubling);
}

TEST(FindCaseWeaknesses, WorkGrowsInStepWithStringsAndAnswer) {
  EXPECT_LT(GrowthPerDoubling(500,
                              [](std::size_t count) {
                                Case test_case = CaseWithStrings(count);
                                test_case.input = test_case.reference;
                                return [test_case] { EXPECT_TRUE(FindCaseWeaknesses(test_case).ok()); };
                              }),
            kMaxGrowthPerDoubling);
}

// One check with many values, and values that almost occur everywhere.
TEST(CaseChecks, WorkGrowsInStepWithValuesThatAreAlike) {
  EXPECT_LT(GrowthPerDoubling(200,
                              [](std::size_t count) {
                                Case test_case;
                                test_case.checks.push_back({"any_of", {}, ""});
                                for (std::size_t i = 0; i < count; ++i)
                                  test_case.checks[0].values.push_back(std::string(100, 'a') + ExpectedWord(i));
                                return [test_case, answer = std::string(count * 20, 'a')] {
                                  EXPECT_FALSE(AllPass(CaseChecks::Make(test_case)->Run(answer)));
                                };
                              }),
            kMaxGrowthPerDoubling);
}

}  // namespace
}  // namespace upskill
