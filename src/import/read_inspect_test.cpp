// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "check/check.h"
#include "import/read_results.h"
#include "import/readers.h"
#include "util/temp_folder.h"
#include "util/zip_writer.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Json SampleOf(const std::string& id, int epoch, Json value) {
  return {{"id", id},
          {"epoch", epoch},
          {"input", "What is " + id + "?"},
          {"output", {{"choices", {{{"message", {{"content", "the answer"}}}}}}}},
          {"scores", {{"match", {{"value", std::move(value)}, {"explanation", "because"}}}}},
          {"model_usage",
           {{"openai/gpt", {{"input_tokens", 20}, {"output_tokens", 5}}}, {"openai/judge", {{"input_tokens", 900}}}}},
          {"total_time", 2.5}};
}

Json Log(const char* condition, Json samples) {
  return {{"version", 2},
          {"status", "success"},
          {"eval",
           {{"task", "kernels"},
            {"model", "openai/gpt"},
            {"created", "2026-03-01T10:00:00+00:00"},
            {"task_args", {{"condition", condition}}}}},
          {"samples", std::move(samples)}};
}

TEST(Inspect, TwoLogsAreTheArmsOfOneEvaluation) {
  const TempFolder folder;
  const auto with = folder.Write(
      "a.json", DumpJson(Log("with_skill", {SampleOf("x", 1, "C"), SampleOf("x", 2, 1.0), SampleOf("y", 1, true)})));
  const auto without = folder.Write(
      "b.json", DumpJson(Log("baseline", {SampleOf("x", 1, "I"), SampleOf("x", 2, 0.5), SampleOf("y", 1, "P")})));
  const auto all = ReadResults({with, without}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 1U);
  const ImportedResults& results = all->front();
  EXPECT_EQ(results.format, "Inspect");
  EXPECT_EQ(results.skill, "kernels");
  ASSERT_EQ(results.answers.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(AllPass(results.answers[i].checks), i < 3) << i;
  EXPECT_EQ(results.answers[1].number, 2);
  EXPECT_EQ(results.answers[0].text, "the answer");
  EXPECT_EQ(results.answers[0].usage.input, 20) << "the judge's tokens aren't the model's";
  EXPECT_EQ(results.answers[3].checks[0].detail, "I: because");
  EXPECT_EQ(results.cases.size(), 2U);
  EXPECT_EQ(results.cases[0].input, "What is x?");
  EXPECT_NE(all->front().sha256, ReadResults({with}, {})->front().sha256);
}

TEST(Inspect, ReadsArchives) {
  ZipWriter zip;
  const Json log = Log("skill", {});
  ASSERT_TRUE(zip.Add("samples/x_epoch_1.json", DumpJson(SampleOf("x", 1, "C"))).ok());
  ASSERT_TRUE(zip.Add("header.json", DumpJson({{"version", 2}, {"eval", log["eval"]}})).ok());
  const std::string whole = std::move(zip).Finish();
  const Result<ImportedResults> results = ReadResultsText(whole, "log.eval", {});
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 1U);
  EXPECT_EQ(results->answers[0].model, "openai/gpt");
  EXPECT_FALSE(ReadResultsText(std::string_view(whole).substr(0, whole.size() / 2), "log.eval", {}).ok());
}

TEST(Inspect, LabelsMayBeInTagsTaskAndFileName) {
  Json log = Log("-", {SampleOf("x", 1, "C")});
  log["eval"]["tags"] = {"nightly", "expert"};
  ImportOptions options;
  options.with = "expert";
  EXPECT_EQ(ReadResultsText(DumpJson(log), "x.json", options)->answers.at(0).arm, Arm::kSkill);
  options.with = "kernels";
  EXPECT_EQ(ReadResultsText(DumpJson(log), "x.json", options)->answers.at(0).arm, Arm::kSkill);
  EXPECT_EQ(ReadResultsText(DumpJson(log), "logs/baseline.json", {})->answers.at(0).arm, Arm::kBaseline);
  const Result<ImportedResults> unknown = ReadResultsText(DumpJson(log), "x.json", {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("'nightly'"));
}

TEST(Inspect, ErrorsAndSamplesWithoutScores) {
  Json failed = SampleOf("x", 1, "C");
  failed["error"] = {{"message", "rate limit"}};
  Json unscored = SampleOf("y", 1, "C");
  unscored.erase("scores");
  const Result<ImportedResults> results = ReadResultsText(DumpJson(Log("skill", {failed, unscored})), "x.json", {});
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->answers.size(), 1U);
  EXPECT_EQ(results->answers[0].error, "rate limit");
  EXPECT_THAT(results->notes, Contains("1 sample without a score left out."));
}

TEST(Inspect, DictionariesOfScoresPassIfAllDo) {
  const std::vector<Json> samples = {SampleOf("x", 1, {{"a", 1}, {"b", "C"}}), SampleOf("y", 1, {{"a", 1}, {"b", 0}}),
                                     SampleOf("z", 1, {{"a", 1}, {"b", nullptr}})};
  const Result<ImportedResults> results = ReadResultsText(DumpJson(Log("skill", samples)), "x.json", {});
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 3U);
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_FALSE(AllPass(results->answers[1].checks));
  EXPECT_NE(results->answers[2].error, "");
}

TEST(Inspect, ScoresThatAreNoNumberAreErrors) {
  Json several = SampleOf("z", 1, "I");
  several["scores"]["more"] = {{"value", nullptr}};
  std::string text = DumpJson(Log("skill", {SampleOf("x", 1, "C"), SampleOf("y", 1, nullptr), several}));
  for (std::size_t at = text.find(":null"); at != std::string::npos; at = text.find(":null"))
    text.replace(at, 5, ":NaN");
  const Result<ImportedResults> results = ReadResultsText(text, "x.json", {});
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 3U);
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_NE(results->answers[1].error, "");
  EXPECT_EQ(results->answers[2].error, "") << "it fails whatever the other score is";
  EXPECT_FALSE(AllPass(results->answers[2].checks));
  EXPECT_FALSE(ReadResultsText(text + "}", "x.json", {}).ok());
}

}  // namespace
}  // namespace upskill
