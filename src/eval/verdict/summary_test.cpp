// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/summary.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

Sample Graded(const std::string& case_id, Arm arm, bool passed, int round = 0, const std::string& student = "fake") {
  Sample sample;
  sample.student = student;
  sample.case_id = case_id;
  sample.arm = arm;
  sample.round = round;
  sample.checks = {{"first", Outcome::kPass, ""}, {"second", passed ? Outcome::kPass : Outcome::kFail, ""}};
  sample.response.usage = {10, 5, 2, 7, 0};
  return sample;
}

Sample Failure(const std::string& case_id, Arm arm, int round = 0) {
  Sample sample = Graded(case_id, arm, false, round);
  sample.error = Error{ErrorKind::kUnavailable, "overloaded"};
  return sample;
}

RunSummary Of(Plan plan, std::vector<Sample> samples) {
  return Summarize(RunData(std::move(plan), std::move(samples)));
}

const ArmSummary& ArmOf(const RunSummary& summary, Arm arm) { return summary.students[0].arms.at(arm); }

TEST(Summarize, CountsAndRates) {
  std::vector<Sample> samples = {Graded("case-1", Arm::kBaseline, true), Graded("case-2", Arm::kBaseline, false),
                                 Graded("case-1", Arm::kSkill, true), Graded("case-2", Arm::kSkill, true)};
  samples[1].response.stop = StopReason::kLength;
  samples[1].cut_from = kMaxAnswerBytes + 1;
  samples[2].response.stop = StopReason::kRefusal;
  samples[3].cached_from = "earlier";
  const RunSummary summary = Of(MakeTestPlan(2), samples);
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(summary.cells, 4U);
  const ArmSummary& baseline = ArmOf(summary, Arm::kBaseline);
  EXPECT_EQ(baseline.cells, 2U);
  EXPECT_EQ(baseline.answered, 2U);
  EXPECT_EQ(baseline.passed, 1U);
  EXPECT_EQ(baseline.checks_passed, 3U);
  EXPECT_EQ(baseline.checks_total, 4U);
  EXPECT_EQ(baseline.truncated, 1U);
  EXPECT_EQ(baseline.cut, 1U);
  EXPECT_EQ(baseline.refusals, 0U);
  EXPECT_EQ(baseline.prompt_tokens, 34);
  EXPECT_EQ(baseline.evaluated_tokens, 24);
  EXPECT_EQ(baseline.output_tokens, 14);
  EXPECT_DOUBLE_EQ(*baseline.rate(), 0.5);
  EXPECT_DOUBLE_EQ(*baseline.mean_checks(), 1.5);
  EXPECT_DOUBLE_EQ(*baseline.mean_output_tokens(), 7.0);
  const ArmSummary& skill = ArmOf(summary, Arm::kSkill);
  EXPECT_EQ(skill.refusals, 1U);
  EXPECT_EQ(skill.from_cache, 1U);
  EXPECT_DOUBLE_EQ(*skill.rate(), 1.0);
  EXPECT_DOUBLE_EQ(*summary.students[0].lift, 0.5);
}

TEST(Summarize, ErrorsNeverEnterARate) {
  const RunSummary summary = Of(
      MakeTestPlan(2),
      {Graded("case-1", Arm::kBaseline, true), Failure("case-2", Arm::kBaseline), Graded("case-1", Arm::kSkill, true)});
  const ArmSummary& baseline = ArmOf(summary, Arm::kBaseline);
  EXPECT_EQ(baseline.errors, 1U);
  EXPECT_EQ(baseline.answered, 1U);
  EXPECT_DOUBLE_EQ(*baseline.rate(), 1.0);
  EXPECT_EQ(baseline.output_tokens, 7);
  EXPECT_EQ(baseline.checks_total, 2U);
  EXPECT_FALSE(summary.complete());
  EXPECT_EQ(summary.answered, 2U);
  EXPECT_DOUBLE_EQ(*summary.students[0].lift, 0.0);
}

TEST(Summarize, NothingAnswered) {
  const RunSummary summary = Of(MakeTestPlan(2), {Failure("case-1", Arm::kSkill)});
  EXPECT_FALSE(ArmOf(summary, Arm::kSkill).rate().has_value());
  EXPECT_FALSE(ArmOf(summary, Arm::kSkill).mean_checks().has_value());
  EXPECT_FALSE(ArmOf(summary, Arm::kBaseline).mean_output_tokens().has_value());
  EXPECT_FALSE(summary.students[0].lift.has_value());
  EXPECT_FALSE(summary.complete());
}

TEST(Summarize, LiftIsTheMeanOverCasesOfDifferences) {
  // case-1: 0 of 3 → 3 of 3; case-2: 1 of 1 → 0 of 1 (the rest open); case-3: baseline only.
  std::vector<Sample> samples = {Graded("case-2", Arm::kBaseline, true), Graded("case-2", Arm::kSkill, false),
                                 Graded("case-3", Arm::kBaseline, true)};
  for (int round = 0; round < 3; ++round) {
    samples.push_back(Graded("case-1", Arm::kBaseline, false, round));
    samples.push_back(Graded("case-1", Arm::kSkill, true, round));
  }
  samples.push_back(Graded("case-2", Arm::kSkill, false, 1));
  const RunSummary summary = Of(MakeTestPlan(3, 3), samples);
  EXPECT_DOUBLE_EQ(*summary.students[0].lift, 0.0);  // (1 − 1) / 2, where pooled counts would give 3/5 − 2/5
  EXPECT_EQ(summary.students[0].cases.at(Arm::kSkill)[1].answered, 2U);
}

TEST(Summarize, NoLiftWithoutABaseline) {
  Plan plan = MakeTestPlan(1);
  plan.arms = {Arm::kSkill};
  const RunSummary summary = Of(plan, {Graded("case-1", Arm::kSkill, true), Graded("case-1", Arm::kBaseline, true)});
  EXPECT_FALSE(summary.students[0].lift.has_value());
  EXPECT_EQ(summary.students[0].arms.size(), 1U);
  EXPECT_EQ(summary.cells, 1U);
  EXPECT_TRUE(summary.complete());
}

TEST(Summarize, IgnoresSamplesOfOtherPlans) {
  const Plan plan = MakeTestPlan(1, 2);
  const RunSummary summary =
      Of(plan, {Graded("case-9", Arm::kSkill, true), Graded("case-1", Arm::kSkill, true, 2),
                Graded("case-1", Arm::kSkill, true, -1), Graded("case-1", Arm::kSkill, true, 0, "another")});
  EXPECT_EQ(summary.answered, 0U);
  EXPECT_EQ(ArmOf(summary, Arm::kSkill).answered, 0U);
}

TEST(Summarize, KeepsStudentsApart) {
  const RunSummary summary = Of(MakeTestPlan(1, 1, {"a", "b"}), {Graded("case-1", Arm::kSkill, true, 0, "b"),
                                                                 Graded("case-1", Arm::kBaseline, false, 0, "b")});
  ASSERT_EQ(summary.students.size(), 2U);
  EXPECT_EQ(summary.students[0].student.name, "a");
  EXPECT_EQ(summary.students[0].arms.at(Arm::kSkill).answered, 0U);
  EXPECT_DOUBLE_EQ(*summary.students[1].lift, 1.0);
  EXPECT_EQ(summary.cells, 4U);
  EXPECT_EQ(summary.answered, 2U);
}

TEST(Summarize, OnlyTheFinalSampleCounts) {
  const RunSummary summary =
      Of(MakeTestPlan(1),
         {Failure("case-1", Arm::kSkill), Failure("case-1", Arm::kSkill), Graded("case-1", Arm::kSkill, true),
          Graded("case-1", Arm::kSkill, false), Failure("case-1", Arm::kSkill), Failure("case-1", Arm::kBaseline),
          Failure("case-1", Arm::kBaseline)});
  EXPECT_EQ(ArmOf(summary, Arm::kSkill).answered, 1U);
  EXPECT_EQ(ArmOf(summary, Arm::kSkill).passed, 1U);
  EXPECT_EQ(ArmOf(summary, Arm::kSkill).errors, 0U);
  EXPECT_EQ(ArmOf(summary, Arm::kBaseline).errors, 1U);
}

}  // namespace
}  // namespace upskill
