// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "import/read_results.h"
#include "import/readers.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Receipts in the shape of those that driftproofhq/driftproof publishes in receipts/ (schema 0.2) and docs/reports/
// (schema 0.6).
Json Receipt(Json cases) {
  return {{"schema_version", "0.6"},
          {"skill", {{"name", "code-review"}, {"version", "0.0.0"}}},
          {"suite", {{"format", "agentskills.io/evals"}, {"case_count", 1}}},
          {"run", {{"model_id", "claude-opus-5"}, {"date_utc", "2026-09-23T06:43:12.011Z"}}},
          {"results", {{"cases", std::move(cases)}}}};
}

Json Entry(const char* mode, double mean) {
  return {{"id", "intent"}, {"mode", mode}, {"mean", mean}, {"samples", {0.1, mean}}, {"threshold", 0.7}};
}

Result<ImportedResults> Read(const Json& json, const ImportOptions& options = {}) {
  return ReadResultsText(DumpJson(json), "receipt.json", options);
}

TEST(Driftproof, AGenerationIsOneAnswerHoweverOftenItWasJudged) {
  const Result<ImportedResults> results = Read(Receipt({Entry("with_skill", 0.7), Entry("baseline", 0.69)}));
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->format, "Driftproof");
  EXPECT_EQ(results->skill, "code-review");
  ASSERT_EQ(results->answers.size(), 2U);
  EXPECT_EQ(results->answers[0].arm, Arm::kSkill);
  EXPECT_EQ(results->answers[0].model, "claude-opus-5");
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_FALSE(AllPass(results->answers[1].checks));
  EXPECT_THAT(results->notes, Contains(HasSubstr("one generation for each case and mode")));
  EXPECT_THAT(results->notes, Contains(HasSubstr("hashes of answers")));
}

TEST(Driftproof, DrawsAreAnswersOfTheirOwn) {
  Json entry = Entry("with_skill", 0.66);
  entry["generation"]["draws"] = {{{"draw_index", 0},
                                   {"status", "measured"},
                                   {"mean", 0.8},
                                   {"usage", {{"input_tokens", 7187}, {"output_tokens", 840}, {"wall_ms", 10773}}}},
                                  {{"draw_index", 1}, {"status", "measured"}, {"mean", 0.5}},
                                  {{"draw_index", 2}, {"status", "failed_timeout"}},
                                  {{"draw_index", 3}, {"status", "measured"}}};
  const Result<ImportedResults> results = Read(Receipt({entry, Entry("baseline", 0.9)}));
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 4U);
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_EQ(results->answers[0].usage.output, 840);
  EXPECT_DOUBLE_EQ(results->answers[0].seconds, 10.773);
  EXPECT_EQ(results->answers[1].number, 1);
  EXPECT_EQ(results->answers[2].error, "failed_timeout");
  EXPECT_THAT(results->notes, Contains(HasSubstr("1 generation without a score left out")));
}

TEST(Driftproof, WithoutAThresholdPassAtDecides) {
  Json entry = Entry("with_skill", 0.5);
  entry["threshold"] = nullptr;
  ImportOptions options;
  options.pass_at = 0.5;
  const Result<ImportedResults> results = Read(Receipt({entry}), options);
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_THAT(results->notes, Contains(HasSubstr("pass at 50 %")));
}

TEST(Driftproof, SaysWhatIsMissing) {
  const Result<ImportedResults> results = Read(Receipt({Entry("expert", 0.5)}));
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("'expert'"));
}

}  // namespace
}  // namespace upskill
