// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/imported_run.h"
#include "import/read_results.h"
#include "import/readers.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// An entry of results.results as promptfoo 0.1xx writes it.
std::string EntryOf(const std::string& prompt, const std::string& provider, int test, bool success,
                    const std::string& output, const std::string& more = "") {
  return R"({"id": "x", "promptIdx": 0, "testIdx": )" + std::to_string(test) +
         R"(, "testCase": {"vars": {"question": "q)" + std::to_string(test) +
         R"("}, "assert": [{"type": "icontains", "value": "ahoy"}]}, "promptId": "p",
    "provider": {"id": "openai:gpt-5-mini", "label": ")" +
         provider + R"("}, "prompt": {"raw": "…", "label": ")" + prompt + R"("}, "vars": {"question": "q)" +
         std::to_string(test) + R"("}, "response": {"output": ")" + output +
         R"(", "tokenUsage": {"total": 30, "prompt": 20, "completion": 10})" + more + R"(}, "error": null,
    "failureReason": 0, "success": )" +
         (success ? "true" : "false") + R"(, "score": )" + (success ? "1" : "0") +
         R"(, "latencyMs": 1200, "cost": 0.001, "gradingResult": {"pass": )" + (success ? "true" : "false") +
         R"(, "score": 1, "reason": "r", "componentResults": [{"pass": )" + (success ? "true" : "false") +
         R"(, "score": 1, "reason": "Expected output", "assertion": {"type": "icontains", "value": "ahoy"}}]}})";
}

std::string FileOf(const std::vector<std::string>& entries) {
  std::string list;
  for (const std::string& entry : entries) list += (list.empty() ? "" : ",") + entry;
  return R"({"evalId": "eval-x", "results": {"version": 3, "timestamp": "2026-05-01T10:00:00Z", "prompts": [], "results": [)" +
         list + R"(], "stats": {"successes": 2}}, "config": {"description": "pirate"}, "shareableUrl": null})";
}

Result<ImportedResults> FromPromptfoo(const std::string& text, const ImportOptions& options = {}) {
  return ReadResultsText(text, "out.json", options);
}

TEST(Promptfoo, PromptsAreTheArms) {
  const Result<ImportedResults> results = FromPromptfoo(
      FileOf({EntryOf("with_skill", "mini", 0, true, "ahoy"), EntryOf("without_skill", "mini", 0, false, "hello"),
              EntryOf("with_skill", "mini", 1, true, "ahoy"), EntryOf("without_skill", "mini", 1, true, "ahoy")}));
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "pirate");
  ASSERT_EQ(results->cases.size(), 2U);
  EXPECT_EQ(results->cases[0].input, "question: q0\n");
  ASSERT_EQ(results->answers.size(), 4U);
  EXPECT_EQ(results->answers[0].model, "mini");
  EXPECT_EQ(results->answers[0].text, "ahoy");
  EXPECT_EQ(results->answers[0].seconds, 1.2);
  EXPECT_EQ(results->answers[0].usage.output, 10);
  EXPECT_EQ(results->answers[1].checks.at(0).name, "icontains ahoy");
  EXPECT_FALSE(AllPass(results->answers[1].checks));
}

TEST(Promptfoo, ProvidersAreTheArmsIfTheyAreNamed) {
  ImportOptions labels;
  labels.with = "agent + skill";
  labels.without = "agent";
  const Result<ImportedResults> results =
      FromPromptfoo(FileOf({EntryOf("task", "agent + skill", 0, true, "ahoy"),
                            EntryOf("task", "agent", 0, false, "hello"), EntryOf("task", "third", 0, false, "hello")}),
                    labels);
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 2U);
  EXPECT_EQ(results->answers[0].model, "openai:gpt-5-mini");
  EXPECT_EQ(results->answers[0].arm, Arm::kSkill);
  EXPECT_EQ(results->answers[1].arm, Arm::kBaseline);
  EXPECT_THAT(results->notes, Contains(HasSubstr("1 result of other prompts and providers left out: task, third")));
}

TEST(Promptfoo, ListsLabelsThatItDoesNotKnow) {
  const Result<ImportedResults> results = FromPromptfoo(FileOf({EntryOf("plain", "mini", 0, true, "a")}));
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("'plain', 'mini'"));
}

TEST(Promptfoo, RepetitionsAreRoundsAndCachedCopiesAreNot) {
  // `--repeat` gives each repetition a test index of its own.
  std::string repeated = EntryOf("with_skill", "mini", 0, true, "ahoy again");
  repeated.replace(repeated.find("\"testIdx\": 0"), 12, "\"testIdx\": 9");
  const Result<ImportedResults> results = FromPromptfoo(
      FileOf({EntryOf("with_skill", "mini", 0, true, "ahoy"), repeated,
              EntryOf("with_skill", "mini", 0, true, "ahoy", R"(, "cached": true)"),
              EntryOf("without_skill", "mini", 0, false, "no"), EntryOf("without_skill", "mini", 0, false, "no")}));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->cases.size(), 1U);
  EXPECT_EQ(results->answers.size(), 4U);
  EXPECT_THAT(results->notes, Contains(HasSubstr("1 result left out: promptfoo took the same answer from its cache")));
  const Result<ImportedRun> run = ArrangeResults(*results, {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->plan.rounds, 2);
}

TEST(Promptfoo, AnErrorOfTheProviderIsNoAnswer) {
  std::string failed = EntryOf("with_skill", "mini", 0, false, "");
  failed.replace(failed.find("\"failureReason\": 0"), 18, "\"failureReason\": 2");
  failed.replace(failed.find("\"error\": null"), 13, "\"error\": \"API call error: 429\"");
  const Result<ImportedResults> results = FromPromptfoo(FileOf({failed}));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->answers[0].error, "API call error: 429");
  EXPECT_TRUE(results->answers[0].checks.empty());
}

TEST(Promptfoo, SurvivesWrongTypes) {
  for (const char* text : {R"({"evalId": 1})", R"({"evalId": "e", "results": {"results": {}}})",
                           R"({"evalId": "e", "results": [1, null, "x"]})",
                           R"({"evalId": "e", "results": [{"success": 1, "prompt": {"label": "with_skill"}}]})",
                           R"({"evalId": "e", "results": {"stats": {"successes": 10, "failures": 2}}})"}) {
    const Result<ImportedResults> results = FromPromptfoo(text);
    EXPECT_FALSE(results.ok()) << text;
  }
  const Result<ImportedResults> odd = FromPromptfoo(
      R"({"evalId": "e", "results": [{"success": true, "prompt": {"label": "with_skill"}, "latencyMs": -5, "cost": "x",
      "response": {"output": {"a": [1]}, "tokenUsage": {"prompt": 1e300, "completion": -4}}, "vars": 7, "testCase": []}]})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->answers[0].usage.prompt(), 0);
  EXPECT_EQ(odd->answers[0].text, R"({"a":[1]})");
}

}  // namespace
}  // namespace upskill
