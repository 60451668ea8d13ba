// SPDX-License-Identifier: Apache-2.0
#include "teach/weak_teacher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/generation_bench.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(PromptCopies, AreRunsOfThePromptThatTheMaterialLacks) {
  Material material;
  material.items.push_back(
      {"d1", MaterialKind::kFact, "State each fact in one plain sentence, said the style guide.", {"a#1"}});
  const PromptCopies copies(BuiltInPrompts(), {"draft-system", "notes"}, material);
  EXPECT_TRUE(copies.Has("The order of work: the steps from nothing to a checked result, each with its command."));
  EXPECT_TRUE(copies.Has("- Signatures, registrations, schemas, configuration keys with their values"));
  EXPECT_TRUE(copies.Has("Say of the kernel whether it was run, only written, or replaced later, as the item says."));
  EXPECT_FALSE(copies.Has("State each fact in one plain sentence.")) << "the material has it, too";
  EXPECT_FALSE(copies.Has("its command")) << "a few words are nobody's";
  EXPECT_FALSE(
      copies.Has("`kernel-builder build` must run in the folder of `build.toml`, the steps from nothing to a "
                 "checked result: `nix build . -L`, then `python -m pytest tests`"));
}

// A generation whose teacher answers each kind of request with these.
Result<GenerateOutcome> Generate(const Json& draft, const Json& cases, bool has_material = true) {
  GenerationBench bench([&](const ChatRequest& request, std::size_t) -> Result<std::string> {
    return DumpJson(AsksFor(request, "cases") ? cases : draft);
  });
  bench.options.critique = false;
  for (const char* id : {"d1", "d2"}) {
    if (has_material)
      bench.material.items.push_back({id, MaterialKind::kFact, "Sums are written as `total-N`.", {"a.jsonl#3"}});
  }
  return bench.Run();
}

Json DraftWith(const std::vector<std::pair<std::string, std::string>>& rules) {
  Json draft = DraftJson("", {"d1"});
  draft["sections"][0]["rules"] = Json::array();
  for (const auto& [text, id] : rules) draft["sections"][0]["rules"].push_back({{"text", text}, {"cites", {id}}});
  return draft;
}

TEST(WeakTeacher, ATeacherWhoseRulesAreMostlyMadeUpEndsTheGeneration) {
  const std::pair<std::string, std::string> good = {"Write sums as `total-N`.", "d1"};
  const Json cases = CasesJson(4);
  const Result<GenerateOutcome> weak = Generate(
      DraftWith({good, {"Use `nvcc-magic`.", "d1"}, {"Use `foo_bar`.", "d2"}, {"Use something.", "d77"}}), cases);
  ASSERT_FALSE(weak.ok());
  EXPECT_EQ(weak.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(weak.error().message, HasSubstr("of its 4 rules, 3"));
  EXPECT_TRUE(Generate(DraftWith({good, good, good, {"Use `foo_bar`.", "d2"}, {"Something.", "d77"}}), cases).ok());
}

TEST(SaysNothing, WhatOnlyStandsForAText) {
  for (const char* text : {"", "x", "...", "…", "- …", "TODO", "Rule 1", "rule two", "<your text here>", "12 34",
                           "This is an example rule.", "Insert the text of the rule here", "`x`", "……", "*"})
    EXPECT_TRUE(SaysNothing(text)) << text;
  for (const char* text : {"Be brief.", "Write sums as `total-N`.", "`kernel-builder`", "金額は円で書きます",
                           "Überprüfungspflicht", "Run `make` first.", "```\ngit pull\n```"})
    EXPECT_FALSE(SaysNothing(text)) << text;
}

// With and without material.
TEST(WeakTeacher, ATeacherWhoseRulesSayNothingEndsTheGeneration) {
  for (const bool has_material : {true, false}) {
    const std::string id = has_material ? "d1" : "";
    const Result<GenerateOutcome> weak = Generate(DraftWith({{"x", id}, {"...", id}}), CasesJson(4), has_material);
    ASSERT_FALSE(weak.ok()) << has_material;
    EXPECT_EQ(weak.error().kind, ErrorKind::kNotFound);
    EXPECT_THAT(weak.error().message, HasSubstr("of its 2 rules, 2 without content"));
    const Result<GenerateOutcome> one =
        Generate(DraftWith({{"x", id}, {"Write sums as `total-N`.", id}}), CasesJson(4), has_material);
    ASSERT_TRUE(one.ok()) << one.error().message;
    EXPECT_EQ(one->candidates[0].skill.body, "# Adding\n\nWrite sums as `total-N`.\n");
  }
}

TEST(WeakTeacher, RulesThatRepeatThePromptDontCount) {
  const std::string copied =
      "Mistakes that are easy to make, each with its symptom in the tool's own words and its fix.";
  const Result<GenerateOutcome> outcome =
      Generate(DraftWith({{"Write sums as `total-N`.", "d1"}, {copied, "d1"}}), CasesJson(4));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->candidates[0].skill.body, testing::Not(HasSubstr("symptom")));
}

TEST(WeakTeacher, ATeacherWithoutAnySoundTestEndsTheGeneration) {
  Json cases = CasesJson(4);
  for (Json& test : cases["cases"]) test["reference"] = "something else";
  const Result<GenerateOutcome> weak = Generate(DraftWith({{"Write sums as `total-N`.", "d1"}}), cases);
  ASSERT_FALSE(weak.ok());
  EXPECT_THAT(weak.error().message, HasSubstr("tests can be used"));
}

}  // namespace
}  // namespace upskill
