// SPDX-License-Identifier: Apache-2.0
#include "prompts/prompt_template.h"

#include <gmock/gmock.h>

#include <string>

#include "support/work_meter.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;

std::string Render(const std::string& text, const PromptValues& values) {
  const Result<PromptTemplate> parsed = PromptTemplate::Parse(text, {"task", "tokens"}, "draft.md");
  EXPECT_TRUE(parsed.ok()) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->Render(values) : "";
}

std::string ErrorFor(const std::string& text) {
  const Result<PromptTemplate> parsed = PromptTemplate::Parse(text, {"task", "tokens"}, "draft.md");
  EXPECT_FALSE(parsed.ok());
  return parsed ? "" : parsed.error().message;
}

TEST(PromptTemplate, InsertsValuesAsTheyAre) {
  EXPECT_EQ(Render("a {{task}} b {{ tokens }}{{task}}\n", {{"task", "{{tokens}}"}, {"tokens", "5"}}),
            "a {{tokens}} b 5{{tokens}}");
  EXPECT_EQ(Render("[{{task}}]", {}), "[]");
  EXPECT_EQ(Render(R"(plain {"a": {"b": 1}} text)", {}), R"(plain {"a": {"b": 1}} text)");
}

TEST(PromptTemplate, SectionsDependOnAValue) {
  const std::string text = "start\n{{#task}}\nTask: {{task}}\n{{/task}}\n{{^task}}\nno task\n{{/task}}\nend\n";
  EXPECT_EQ(Render(text, {{"task", "t"}}), "start\nTask: t\nend");
  EXPECT_EQ(Render(text, {}), "start\nno task\nend");
  EXPECT_EQ(Render("a{{#task}} b{{/task}} c", {{"task", "t"}}), "a b c");
  EXPECT_EQ(Render("a{{#task}} b{{/task}} c", {}), "a c");
}

TEST(PromptTemplate, SectionsMayBeNested) {
  const std::string text = "{{#task}}a{{#tokens}}b{{/tokens}}{{^tokens}}c{{/tokens}}{{/task}}d";
  EXPECT_EQ(Render(text, {{"task", "t"}, {"tokens", "5"}}), "abd");
  EXPECT_EQ(Render(text, {{"task", "t"}}), "acd");
  EXPECT_EQ(Render(text, {{"tokens", "5"}}), "d");
}

TEST(PromptTemplate, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorFor("a\nb {{taks}}"), "draft.md:2: unknown placeholder {{taks}}; this prompt has task, tokens");
  EXPECT_EQ(ErrorFor("a\n\n{{task\n}}"), "draft.md:3: {{ without }} on the same line");
  EXPECT_EQ(ErrorFor("a\n{{#task}}\nb"), "draft.md:2: {{#task}} without {{/task}}");
  EXPECT_EQ(ErrorFor("{{#task}}{{/tokens}}"), "draft.md:1: {{/tokens}} without {{#tokens}}");
}

TEST(PromptTemplate, LinesOfSectionsMayBeIndentedAndLast) {
  EXPECT_EQ(Render("a\n  {{#task}}\t\r\nb\n {{/task}} \nc\n{{^task}}\nd\n{{/task}}", {{"task", "t"}}), "a\nb\nc");
}

// As long as it says what it says once, however long the values are.
TEST(PromptTemplate, UsesAValueASmallNumberOfTimes) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "{{task}}\n";
  EXPECT_EQ(Render(text, {{"task", ""}}), "");
  EXPECT_EQ(ErrorFor(text + "{{task}}"), "draft.md:21: {{task}} is used more than 20 times");
}

TEST(PromptTemplate, ReadsLongTextsInProportionToTheirLength) {
  const double growth = GrowthPerDoubling(4'000, [](std::size_t tags) {
    std::string text;
    for (std::size_t i = 0; i < tags; ++i) text += " {{#task}} {{/task}}";
    return [text] { EXPECT_TRUE(PromptTemplate::Parse(text, {"task"}, "draft.md").ok()); };
  });
  EXPECT_LE(growth, kMaxGrowthPerDoubling);
}

TEST(PromptTemplate, KnowsWhatItInserts) {
  const Result<PromptTemplate> parsed = PromptTemplate::Parse("{{#task}}x{{/task}}{{tokens}}", {"task", "tokens"}, "d");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->Placeholders(), ElementsAre("tokens"));
}

}  // namespace
}  // namespace upskill
