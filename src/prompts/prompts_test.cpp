// SPDX-License-Identifier: Apache-2.0
#include "prompts/prompts.h"

#include <gmock/gmock.h>

#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorFor(const TempFolder& folder) {
  const Result<Prompts> prompts = Prompts::FromFolder(folder.path());
  EXPECT_FALSE(prompts.ok());
  return prompts ? "" : prompts.error().message;
}

TEST(Prompts, EveryKindIsBuiltIn) {
  for (const PromptKind& kind : PromptKinds()) {
    EXPECT_FALSE(BuiltInPrompts().Text(kind.name).empty());
    EXPECT_EQ(BuiltInPromptTexts().count(std::string(kind.name)), 1U);
  }
  EXPECT_EQ(BuiltInPromptTexts().size(), PromptKinds().size());
}

// Runs and their cached answers depend on it.
TEST(Prompts, TheStudentsPromptStaysAsItIs) {
  EXPECT_EQ(BuiltInPrompts().Render("student"), "You are a helpful assistant. Answer the request.");
}

TEST(Prompts, OnlyWhatHasAValueIsSaid) {
  const std::string bare = BuiltInPrompts().Render("draft", {{"task", "Add numbers"}, {"tokens", "600"}});
  EXPECT_THAT(bare, AllOf(HasSubstr("Task:\nAdd numbers\n\nWrite the skill."), HasSubstr("600 tokens"),
                          HasSubstr("no material to cite"), Not(HasSubstr("existing skill")), Not(HasSubstr("`name`:")),
                          Not(HasSubstr("couldn't be used")), Not(HasSubstr("{{"))));
  const std::string full = BuiltInPrompts().Render("draft", {{"material", "[d1] Fact"},
                                                             {"existing", "name: adding"},
                                                             {"tokens", "600"},
                                                             {"asks_name", "yes"},
                                                             {"problem", "too long"}});
  EXPECT_THAT(full, AllOf(HasSubstr("<skill>\nname: adding\n</skill>"), HasSubstr("brackets:\n\n[d1] Fact"),
                          HasSubstr("`name`:"), HasSubstr("couldn't be used: too long."),
                          Not(HasSubstr("no material to cite"))));
}

TEST(Prompts, AFolderReplacesWhatItHas) {
  const TempFolder folder;
  folder.Write("student.md", "You are terse.\n");
  folder.Write("README.md", "notes");
  const Result<Prompts> prompts = Prompts::FromFolder(folder.path());
  ASSERT_TRUE(prompts.ok()) << prompts.error().message;
  EXPECT_EQ(prompts->Render("student"), "You are terse.");
  EXPECT_EQ(prompts->Text("draft"), BuiltInPrompts().Text("draft"));
  EXPECT_NE(prompts->Hash(), BuiltInPrompts().Hash());
  const Result<Prompts> stored = Prompts::FromJson(prompts->ToJson(), "generation.json: prompts");
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->Hash(), prompts->Hash());
}

TEST(Prompts, ErrorsNameFileAndLine) {
  const TempFolder folder;
  EXPECT_THAT(ErrorFor(folder), HasSubstr("has no NAME.md of a prompt"));
  folder.Write("cases.md", "Write {{count}}\nabout {{matter}}.\n");
  EXPECT_THAT(ErrorFor(folder), AllOf(HasSubstr("/cases.md:2: unknown placeholder {{matter}}"), HasSubstr("material")));
  folder.Write("cases.md", "Write {{count}} about {{task}}: {{covered}}{{rejected}}");
  EXPECT_THAT(ErrorFor(folder),
              AllOf(HasSubstr("/cases.md:1: {{material}} is missing"), HasSubstr("upskill prompts cases")));
  folder.Write("cases.md", BuiltInPrompts().Text("cases"));
  folder.Write("drafts.md", "x");
  EXPECT_THAT(ErrorFor(folder), HasSubstr("/drafts.md: no prompt has this name"));
}

TEST(Prompts, AMissingFolderIsAnError) {
  const Result<Prompts> prompts = Prompts::FromFolder("/nonexistent/prompts");
  ASSERT_FALSE(prompts.ok());
  EXPECT_EQ(prompts.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace upskill
