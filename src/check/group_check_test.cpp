// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "check/check_makers.h"
#include "support/check_cases.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

CheckSpec GroupOf(const std::string& head, const std::string& members) {
  return SpecFrom("{" + head + R"(, "checks": [)" + members + "]}");
}

constexpr const char* kThree =
    R"({"type": "contains", "values": "a"}, {"type": "contains", "values": "b"}, {"type": "contains", "values": "c"})";
constexpr const char* kOneSkipped = R"({"type": "contains", "values": "a"}, {"type": "judge"})";

TEST(GroupCheck, All) {
  const CheckSpec all = GroupOf(R"("type": "all")", kThree);
  EXPECT_TRUE(Passes(all, "abc"));
  EXPECT_EQ(DetailOf(all, "b"), "contains \"a\": not found; contains \"c\": not found");
  EXPECT_EQ(ResultOf(all, "b").name, "all of 3 checks");
}

TEST(GroupCheck, Any) {
  const CheckSpec any = GroupOf(R"("type": "any")", kThree);
  EXPECT_TRUE(Passes(any, "b"));
  EXPECT_FALSE(Passes(any, "x"));
}

TEST(GroupCheck, AtLeastCountsWeights) {
  const CheckSpec two = GroupOf(R"("type": "at_least", "count": 2)", kThree);
  EXPECT_TRUE(Passes(two, "ac"));
  EXPECT_FALSE(Passes(two, "a"));
  const CheckSpec weighted =
      GroupOf(R"("type": "at_least", "count": 0.3)",
              R"({"type": "contains", "values": "a", "weight": 0.1}, {"type": "contains", "values": "b", "weight": 0.2},
         {"type": "contains", "values": "c", "weight": 0})");
  EXPECT_TRUE(Passes(weighted, "ab")) << "0.1 + 0.2 is 0.3, whatever binary fractions say";
  EXPECT_FALSE(Passes(weighted, "bc"));
  EXPECT_EQ(ResultOf(weighted, "a").name, "at_least 0.3 of 0.3 by weight, 3 checks");
  EXPECT_EQ(ResultOf(two, "a").name, "at_least 2 of 3 checks");
}

TEST(GroupCheck, IsSkippedIfTheSkippedMembersDecide) {
  EXPECT_EQ(ResultOf(GroupOf(R"("type": "all")", kOneSkipped), "a").outcome, Outcome::kSkip);
  EXPECT_EQ(ResultOf(GroupOf(R"("type": "all")", kOneSkipped), "x").outcome, Outcome::kFail);
  EXPECT_EQ(ResultOf(GroupOf(R"("type": "any")", kOneSkipped), "a").outcome, Outcome::kPass);
  EXPECT_EQ(ResultOf(GroupOf(R"("type": "any")", kOneSkipped), "x").outcome, Outcome::kSkip);
}

TEST(GroupCheck, Nested) {
  const CheckSpec nested = GroupOf(R"("type": "all")", R"({"type": "any", "checks": [)" + std::string(kThree) +
                                                           R"(]}, {"type": "not_contains", "values": "z"})");
  EXPECT_TRUE(Passes(nested, "b"));
  EXPECT_EQ(DetailOf(nested, "bz"), "not_contains \"z\": found");
}

TEST(GroupCheck, Malformed) {
  EXPECT_THAT(ErrorOf(GroupOf(R"("type": "at_least")", kThree)), HasSubstr("at_least needs a \"count\""));
  for (const char* count : {"0", "-1", "4"}) {
    EXPECT_THAT(ErrorOf(GroupOf(R"("type": "at_least", "count": )" + std::string(count), kThree)),
                HasSubstr("must be above 0 and at most 3"));
  }
  EXPECT_THAT(ErrorOf(GroupOf(R"("type": "all")", R"({"type": "regex", "pattern": "("})")), HasSubstr("all: regex"));
}

}  // namespace
}  // namespace upskill
