// SPDX-License-Identifier: Apache-2.0
#include "prompts/prompt_template.h"

#include <gmock/gmock.h>

#include <string>

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

TEST(PromptTemplate, KnowsWhatItInserts) {
  const Result<PromptTemplate> parsed = PromptTemplate::Parse("{{#task}}x{{/task}}{{tokens}}", {"task", "tokens"}, "d");
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->Placeholders(), ElementsAre("tokens"));
}

}  // namespace
}  // namespace upskill
