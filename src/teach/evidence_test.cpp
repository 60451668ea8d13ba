// SPDX-License-Identifier: Apache-2.0
#include "teach/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Material Items() {
  Material material;
  material.items = {{"d1", MaterialKind::kFile, "[general]\nname =  \"relu\"", {"a#1"}},
                    {"d2", MaterialKind::kEpisode, "the user asked for a kernel", {"a#2"}},
                    {"d3", MaterialKind::kFix, "unsupported architecture", {"a#3"}},
                    {"d4", MaterialKind::kCorrection, "use 9.0a", {"a#4"}}};
  return material;
}

TEST(IsSupported, OneBacktickedTextInOneCitedItem) {
  const Material material = Items();
  EXPECT_TRUE(IsSupported({"Set `name = \"relu\"`.", {"d1"}}, material)) << "apart from spaces";
  EXPECT_TRUE(IsSupported({"Set `name` or `edition`.", {"d2", "d1"}}, material));
  EXPECT_FALSE(IsSupported({"Set `edition`.", {"d1", "d2"}}, material));
  EXPECT_FALSE(IsSupported({"Set `name`.", {"d2"}}, material)) << "another item has it";
}

TEST(IsSupported, WithoutBackticksOrItemsThereIsNothingToCheck) {
  EXPECT_TRUE(IsSupported({"Kernels are built twice.", {"d1"}}, Items()));
  EXPECT_TRUE(IsSupported({"Set `edition`.", {}}, Items()));
  EXPECT_TRUE(IsSupported({"A file:\n\n```toml\nx = `y`\n```", {"d1"}}, Items())) << "fenced text isn't in backticks";
}

TEST(CoverageOf, NamesWhatNoRuleAndNoTestCitesByImportance) {
  Case test_case;
  test_case.raw = {{"input", "x"}, {"cites", {"d1", 7}}};
  const Coverage coverage = CoverageOf(Items(), {}, {test_case});
  EXPECT_EQ(coverage.items, 4U);
  EXPECT_THAT(coverage.untouched, ElementsAre("d4", "d3", "d2"));
  EXPECT_THAT(CoverageLine(coverage, Items()), AllOf(HasSubstr("1 of 4 items of the material is in a rule or a test"),
                                                     HasSubstr("not touched: d4 ("), HasSubstr("use 9.0a")));
  EXPECT_THAT(CoverageOf(Items(), {{"rule", {"d2", "d3", "d4"}}}, {test_case}).untouched, testing::IsEmpty());
}

}  // namespace
}  // namespace upskill
