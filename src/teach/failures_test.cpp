// SPDX-License-Identifier: Apache-2.0
#include "teach/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Case WithChecks() {
  Case test_case;
  test_case.checks = {
      {"contains", {"edition = 5", "[torch]", "found"}, ""}, {"any_of", {"9.0", "9.0a"}, ""}, {"regex", {}, "x+"}};
  return test_case;
}

TEST(MissingTexts, SayWhetherTheSkillHasThem) {
  const std::string body = "# Build\n\nIn build.toml, `Edition = 5` comes first.\n";
  const std::string text = MissingTexts(WithChecks(), "It was Found.", body);
  EXPECT_THAT(text, AllOf(HasSubstr("Missing text `edition = 5`: in the skill, line 3\n"),
                          HasSubstr("Missing text `[torch]`: absent from the skill\n"), Not(HasSubstr("found"))));
  EXPECT_THAT(text, AllOf(HasSubstr("`9.0`: absent"), HasSubstr("`9.0a`: absent")));
  EXPECT_THAT(MissingTexts(WithChecks(), "9.0a", body), Not(HasSubstr("9.0"))) << "one of the group is enough";
}

}  // namespace
}  // namespace upskill
