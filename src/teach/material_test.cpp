// SPDX-License-Identifier: Apache-2.0
#include "teach/material.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "support/claude_session.h"
#include "teach/material_json.h"
#include "util/tokens.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Trace SmallTrace() {
  ClaudeSession session;
  session.User("make it build");
  session.Call("Write", Json::object({{"file_path", "/p/a.c"}, {"content", "int y;\n"}}), "ok");
  session.Call("Edit", Json::object({{"file_path", "/p/a.c"}, {"old_string", "int y;"}, {"new_string", "int x;"}}),
               "ok");
  session.Run("make test", "1 passed");
  return session.Read("s.jsonl");
}

TEST(AddTraces, ItemsOfAWholeTraceSayHowTheyAreKnown) {
  Material material;
  const AddedTraces added = AddTraces({SmallTrace()}, {60'000, 1}, material);
  EXPECT_THAT(added.kept, HasSubstr("tokens, nothing left out: "));
  EXPECT_FALSE(added.condensed);
  const std::string text = ItemsText(material, 0, material.items.size());
  EXPECT_THAT(text, AllOf(StartsWith("Each item says how it is known"), HasSubstr("don't fill these gaps with guesses"),
                          HasSubstr("[d1] Request · told by the user\nmake it build\n"),
                          HasSubstr("Command · ran and passed\n"), HasSubstr("File · only written\n/p/a.c")));
  AddDocument("notes.md", "Use zone 7.", material);
  EXPECT_THAT(ItemsText(material, material.items.size() - 1, material.items.size()),
              AllOf(Not(HasSubstr("Each item")), HasSubstr("Document · read in docs\nUse zone 7.")));
}

TEST(AddTraces, ReferencesNameTheIdsThatATeacherSees) {
  const std::string output(300, 'x');
  ClaudeSession session;
  session.User("make it build");
  session.Run("make", output);
  session.Run("make test", "1 passed");
  session.Run("make", output);
  Material material;
  AddTraces({session.Read("s.jsonl")}, {60'000, 1}, material);
  const std::string text = ItemsText(material, 0, material.items.size());
  EXPECT_THAT(text, AllOf(HasSubstr("[d2] Command · ran and passed\n$ make\n→ xxx"),
                          HasSubstr("$ make\n→ [the same output as at d2]\n"), Not(HasSubstr("s.jsonl#"))));
}

TEST(AddTraces, HowItemsAreKnownIsStored) {
  Material material;
  AddTraces({SmallTrace()}, {60'000, 1}, material);
  const Result<Material> back = MaterialFromJson(MaterialToJson(material), "generation.json");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(ItemsText(*back, 0, back->items.size()), ItemsText(material, 0, material.items.size()));
  const auto* const file = std::get_if<FileDetail>(&back->items.back().detail);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->content, "int x;\n");
  EXPECT_EQ(file->replaced, "int y;\n");
}

TEST(AddTraces, TheItemsOfAPromptFitIntoTheBudget) {
  ClaudeSession session;
  for (int i = 0; i < 400; ++i) {
    session.User(fmt::format("request {}", i));
    session.Run(fmt::format("tool_{} --run", i * 7919 % 400), fmt::format("result {}", i));
  }
  for (const std::size_t budget : {2000U, 5000U}) {
    Material material;
    AddTraces({session.Read("s.jsonl")}, {budget, 0}, material);
    EXPECT_LE(EstimateTokens(ItemsText(material, 0, material.items.size())), budget);
    EXPECT_FALSE(material.items.empty());
  }
}

}  // namespace
}  // namespace upskill
