// SPDX-License-Identifier: Apache-2.0
#include "skill/description_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "skill/skill.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

TEST(DescriptionEdit, ReplacesTheDescriptionAndNothingElse) {
  const std::string text =
      "---\nname: x\ndescription: >\n  Old text\n\n  in two parts.\n# a comment\nlicense: MIT\n---\n\n# "
      "Body\ndescription: y\n";
  const Result<std::string> edited = WithDescription(text, "New \"text\": with \\ in it", "SKILL.md");
  ASSERT_TRUE(edited.ok()) << edited.error().message;
  EXPECT_EQ(*edited,
            "---\nname: x\ndescription: \"New \\\"text\\\": with \\\\ in it\"\n# a comment\nlicense: MIT\n---\n\n# "
            "Body\ndescription: y\n");
  EXPECT_EQ(ParseSkill(*edited, "SKILL.md")->description, "New \"text\": with \\ in it");
}

TEST(DescriptionEdit, RefusesWhatItCantReplaceOrASkillMayNotHave) {
  const Result<std::string> flow = WithDescription("---\n{name: x, description: y}\n---\n\nBody\n", "z", "SKILL.md");
  ASSERT_FALSE(flow.ok());
  EXPECT_THAT(flow.error().message, HasSubstr("can't be replaced"));
  const std::string plain = "---\nname: x\ndescription: y\n---\n\nBody\n";
  EXPECT_FALSE(WithDescription(plain, std::string(1025, 'a'), "SKILL.md").ok());
  EXPECT_TRUE(WithDescription(plain, std::string(1024, 'a'), "SKILL.md").ok());
  for (const char* unreadable : {"a\xC2\x9B", "a\xEF\xBF\xBE",
                                 "a\xE2\x80\xAE"
                                 "b",
                                 "a\xE2\x81\xA6"})
    EXPECT_FALSE(WithDescription(plain, unreadable, "SKILL.md").ok()) << unreadable;
  EXPECT_TRUE(WithDescription(plain, "ä … “z” 👍", "SKILL.md").ok());
  EXPECT_FALSE(WithDescription(plain, "a\nb", "SKILL.md").ok() && DescriptionProblem("").empty());
}

}  // namespace
}  // namespace upskill
