// SPDX-License-Identifier: Apache-2.0
#include "teach/rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kText = "# Cards\n\nThe capability is `9.0`.\nUse `make`.\n";
const std::vector<Rule> kRules = {{"The capability is `9.0`.", {"d1"}}, {"Use `make`.", {"d2"}}};

TEST(RulesIn, OnlyThoseThatAreStillThere) {
  const std::vector<Rule> rules = RulesIn("# Cards\n\nUse `make`.\n", kRules);
  ASSERT_THAT(rules, SizeIs(1));
  EXPECT_THAT(rules[0].cites, ElementsAre("d2"));
}

TEST(RulesAfterEdit, AChangedRuleKeepsItsCites) {
  const std::vector<Rule> rules = RulesAfterEdit(kText, kText.find("9.0"), 3, "9.0a", kRules, {"d7"});
  ASSERT_THAT(rules, SizeIs(2));
  EXPECT_EQ(rules[0].text, "The capability is `9.0a`.");
  EXPECT_THAT(rules[0].cites, ElementsAre("d1", "d7"));
  EXPECT_THAT(rules[1].cites, ElementsAre("d2"));
}

TEST(RulesAfterEdit, AnEditAcrossRulesHasAllTheirCites) {
  const std::size_t at = kText.find("is `9.0`");
  const std::vector<Rule> rules =
      RulesAfterEdit(kText, at, kText.find("make") + 4 - at, "is `9.1`, by `ninja", kRules, {});
  ASSERT_THAT(rules, SizeIs(1));
  EXPECT_THAT(rules[0].cites, ElementsAre("d1", "d2"));
}

TEST(RulesAfterEdit, NewTextBesideTheRulesHasTheCitesOfTheEdit) {
  const std::vector<Rule> rules = RulesAfterEdit(kText, 0, 7, "# Cards\n\nNew.", kRules, {"d9"});
  ASSERT_THAT(rules, SizeIs(3));
  EXPECT_THAT(rules[2].cites, ElementsAre("d9"));
  EXPECT_THAT(RulesAfterEdit(kText, 0, 7, "# Maps", kRules, {}), SizeIs(2));
}

TEST(RulesOfRewrite, OldRulesKeepTheirCitesAndNewParagraphsHaveThoseOfTheRewrite) {
  const std::vector<Rule> rules =
      RulesOfRewrite("# Cards\n\nUse `make`.\nNew one.\nIts end.\n\nNew two.\n", kRules, {"d4"});
  ASSERT_THAT(rules, SizeIs(3));
  EXPECT_THAT(rules[0].cites, ElementsAre("d2"));
  EXPECT_EQ(rules[1].text, "New one.\nIts end.");
  EXPECT_THAT(rules[1].cites, ElementsAre("d4"));
  EXPECT_EQ(rules[2].text, "New two.");
  EXPECT_THAT(RulesOfRewrite("", kRules, {"d4"}), IsEmpty());
}

}  // namespace
}  // namespace upskill
