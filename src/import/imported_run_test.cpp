// SPDX-License-Identifier: Apache-2.0
#include "import/imported_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "eval/journal/run_data.h"
#include "eval/verdict/judged_run.h"
#include "util/clock.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

void Put(ImportedResults& results, const std::string& id, Arm arm, bool passes, const std::string& model = "m") {
  ImportedAnswer answer;
  answer.model = model;
  answer.case_id = id;
  answer.arm = arm;
  answer.checks = {{"c", passes ? Outcome::kPass : Outcome::kFail, ""}};
  results.AddCase(id, "");
  results.answers.push_back(std::move(answer));
}

ImportedResults SomeResults() {
  ImportedResults results;
  results.format = "a program";
  results.source = "out.json";
  results.sha256 = "00";
  return results;
}

TEST(ImportedRun, IsReadBackAsARunOfOurs) {
  ImportedResults results = SomeResults();
  for (const char* id : {"a", "b\x1b[2J", "c", "d", "e"}) {
    for (int round = 0; round < 2; ++round) {
      Put(results, id, Arm::kSkill, true);
      Put(results, id, Arm::kBaseline, false);
    }
  }
  Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok()) << run.error().message;
  TempFolder folder;
  const Result<std::filesystem::path> written = WriteImportedRun(folder.path(), *run, SystemClock());
  ASSERT_TRUE(written.ok()) << written.error().message;
  Result<RunData> data = RunData::Read(*written);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->plan().imported->format, "a program");
  EXPECT_EQ(data->skipped_lines(), 0U);
  EXPECT_FALSE(data->plan().offers_cache);
  const JudgedRun judged = Judge(std::move(data).value());
  EXPECT_TRUE(judged.summary.complete());
  EXPECT_EQ(judged.verdicts.at(0).word, Verdict::kHelps);
  const EarlierImports earlier = FindEarlierImports(folder.path(), run->plan);
  EXPECT_EQ(earlier.same, *written);
}

TEST(ImportedRun, LeavesOutCasesThatAnArmOrModelLacks) {
  ImportedResults results = SomeResults();
  for (const char* model : {"m", "n"}) {
    Put(results, "both", Arm::kSkill, true, model);
    Put(results, "both", Arm::kBaseline, true, model);
    Put(results, "with only", Arm::kSkill, true, model);
  }
  Put(results, "one model", Arm::kSkill, true);
  Put(results, "one model", Arm::kBaseline, true);
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->plan.suite.cases.size(), 1U);
  EXPECT_EQ(run->plan.left_out.size(), 2U);
  EXPECT_EQ(run->samples.size(), 4U);
  EXPECT_THAT(run->plan.imported->notes, Contains(HasSubstr("with only, one model")));
}

TEST(ImportedRun, WithoutABaselineThereIsNoVerdict) {
  ImportedResults results = SomeResults();
  Put(results, "a", Arm::kSkill, true);
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->plan.imported->notes, Contains(HasSubstr("no lift and no verdict")));
  ImportedResults baseline = SomeResults();
  Put(baseline, "a", Arm::kBaseline, true);
  EXPECT_FALSE(ArrangeResults(std::move(baseline), {}).ok());
}

TEST(ImportedRun, AnErrorIsNoAnswer) {
  ImportedResults results = SomeResults();
  Put(results, "a", Arm::kSkill, true);
  Put(results, "a", Arm::kBaseline, false);
  results.answers.back().error = "timed out";
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->samples.at(0).ok());
  EXPECT_TRUE(run->samples.at(1).ok());
}

TEST(ImportedRun, SaysThatDrawsAreUnequal) {
  ImportedResults results = SomeResults();
  for (int draw = 0; draw < 3; ++draw) Put(results, "a", Arm::kSkill, true);
  Put(results, "a", Arm::kBaseline, false);
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->plan.rounds, 3);
  EXPECT_THAT(run->plan.imported->notes, Contains(HasSubstr("1 to 3 answers in an arm")));
}

// A case with many answers and many cases with one each would need a value for each pair of the two in reports.
TEST(ImportedRun, BoundsTheNumberOfCells) {
  ImportedResults results = SomeResults();
  constexpr int kMany = 3000;
  for (int i = 0; i < kMany; ++i) {
    Put(results, "often", Arm::kSkill, true);
    Put(results, std::to_string(i), Arm::kSkill, true);
  }
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr("more than 4000000 cells"));
}

TEST(ImportedRun, BoundsTheNumberOfCases) {
  ImportedResults results = SomeResults();
  constexpr int kTooMany = 10'001;
  for (int i = 0; i < kTooMany; ++i) Put(results, std::to_string(i), Arm::kSkill, true);
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error().message, HasSubstr("10,001 cases are more than the 10000"));
}

TEST(ImportedRun, ClampsWhatReportsAddUp) {
  ImportedResults results = SomeResults();
  Put(results, "a", Arm::kSkill, true);
  results.answers[0].seconds = 1e300;
  results.answers[0].cost_usd = 1e300;
  const Result<ImportedRun> run = ArrangeResults(std::move(results), {});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->samples.at(0).response.seconds, kMaxStoredSeconds);
  EXPECT_FALSE(run->samples.at(0).response.cost_usd.has_value());
  ImportedResults unpriced = SomeResults();
  Put(unpriced, "a", Arm::kSkill, true);
  unpriced.answers[0].cost_usd = 0.0;
  EXPECT_FALSE(ArrangeResults(std::move(unpriced), {})->samples.at(0).response.cost_usd.has_value());
}

TEST(ScoreCheck, RoundsAsProgramsDo) {
  EXPECT_EQ(ScoreCheck(0.1 + 0.2, 0.3).outcome, Outcome::kPass);
  EXPECT_EQ(ScoreCheck(0.3 - 1e-12, 0.3).outcome, Outcome::kPass);
  EXPECT_EQ(ScoreCheck(0.29, 0.3).outcome, Outcome::kFail);
  EXPECT_EQ(ScoreCheck(std::numeric_limits<double>::quiet_NaN(), 0.0).outcome, Outcome::kFail);
}

}  // namespace
}  // namespace upskill
