// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "import/read_results.h"
#include "import/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// result.json as Harbor writes it, in the shape of the published trajectories.
std::string HarborTrial(const std::string& task, Json reward, Json exception = nullptr) {
  Json trial = {{"task_name", task},
                {"source", "tasks-no-skills"},
                {"config", {{"agent", {{"name", "claude-code"}, {"model_name", "minimax/MiniMax-M2.1"}}}}},
                {"agent_result", {{"n_input_tokens", 273023}, {"n_output_tokens", 0}, {"cost_usd", nullptr}}},
                {"exception_info", std::move(exception)},
                {"started_at", "2026-01-29T05:47:41.459432Z"}};
  trial["verifier_result"] = reward.is_null() ? Json(nullptr) : Json{{"rewards", {{"reward", std::move(reward)}}}};
  return DumpJson(trial);
}

TEST(SkillsBench, ReadsTrialsByTheirFolders) {
  const TempFolder folder;
  folder.Write("minimax/no_skills/3d-scan__a/result.json", HarborTrial("3d-scan", 0.0));
  folder.Write("minimax/no_skills/3d-scan__b/result.json",
               HarborTrial("3d-scan", nullptr, {{"exception_type", "AgentTimeoutError"}}));
  folder.Write("minimax/with_skills/3d-scan__c/result.json", HarborTrial("3d-scan", 1.0));
  folder.Write("minimax/with_skills/result.json", R"({"job": "not a trial"})");
  const auto all = ReadResults({folder.path() / "minimax"}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 1U);
  const ImportedResults& results = all->front();
  EXPECT_EQ(results.format, "SkillsBench");
  ASSERT_EQ(results.answers.size(), 3U);
  EXPECT_EQ(results.answers[0].arm, Arm::kBaseline);
  EXPECT_EQ(results.answers[0].model, "minimax/MiniMax-M2.1");
  EXPECT_EQ(results.answers[0].usage.input, 0) << "no tokens of answers: unknown";
  EXPECT_EQ(results.answers[1].error, "AgentTimeoutError");
  EXPECT_EQ(results.answers[2].arm, Arm::kSkill);
  EXPECT_TRUE(AllPass(results.answers[2].checks));
}

TEST(SkillsBench, AFolderOfOneConditionSaysWhichByItsTasks) {
  const TempFolder folder;
  folder.Write("jobs/a/result.json", HarborTrial("3d-scan", 1.0));
  const auto all = ReadResults({folder.path() / "jobs"}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->front().answers.at(0).arm, Arm::kBaseline);
}

// A file of the leaderboard's results/.
TEST(SkillsBench, ReadsTheLeaderboard) {
  const Json trial = {{"task_id", "3d-scan-calc"},
                      {"condition", "with_skills"},
                      {"score_eligible", true},
                      {"passed", false},
                      {"reward", 2.0},
                      {"max_score", 4.0},
                      {"time_used", 58.339},
                      {"error_type", nullptr}};
  Json without = trial;
  without["condition"] = "without_skills";
  without["error_type"] = "infra";
  Json excluded = trial;
  excluded["score_eligible"] = false;
  const Json json = {{"status", "completed"},
                     {"results", {{{"results", {trial, without}}}, {{"results", {excluded}}}}}};
  ImportOptions options;
  options.pass_at = 0.5;
  const Result<ImportedResults> results = ReadResultsText(DumpJson(json), "board.json", options);
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 2U);
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_DOUBLE_EQ(results->answers[0].seconds, 58.339);
  EXPECT_EQ(results->answers[1].error, "infra");
  EXPECT_THAT(results->notes, Contains(HasSubstr("1 trial left out that the file says don't count")));
}

}  // namespace
}  // namespace upskill
