// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/table_verdicts.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;

TableEvidence Helping(double p) {
  TableEvidence evidence;
  evidence.word = Verdict::kHelps;
  evidence.p_helps = p;
  return evidence;
}

std::vector<bool> Standing(const std::vector<TableVerdict>& verdicts) {
  std::vector<bool> standing;
  for (const TableVerdict& verdict : verdicts) standing.push_back(verdict.stands);
  return standing;
}

// 4 · 0.005 = 0.02, 3 · 0.01 = 0.03, 2 · 0.03 = 0.06, and the last no less than the one before it.
TEST(JudgeTable, FourByHand) {
  const std::vector<TableVerdict> judged =
      JudgeTable({Helping(0.01), Helping(0.04), Helping(0.03), Helping(0.005)}, 4, 0.05);
  EXPECT_THAT(Standing(judged), testing::ElementsAre(true, false, false, true));
  EXPECT_THAT(judged[0].p, DoubleNear(0.03, 1e-12));
  EXPECT_THAT(judged[1].p, DoubleNear(0.06, 1e-12));
  EXPECT_THAT(judged[2].p, DoubleNear(0.06, 1e-12));
  EXPECT_THAT(judged[3].p, DoubleNear(0.02, 1e-12));
}

TEST(JudgeTable, VerdictsThatWerePlannedCountToo) {
  // 8 · 0.005 = 0.04, 7 · 0.01 = 0.07.
  const std::vector<TableVerdict> judged = JudgeTable({Helping(0.01), Helping(0.005)}, 8, 0.05);
  EXPECT_THAT(Standing(judged), testing::ElementsAre(false, true));
}

TEST(JudgeTable, EachWordHasAlphaOfItsOwn) {
  TableEvidence hurting;
  hurting.word = Verdict::kHurts;
  hurting.p_hurts = 0.02;
  TableEvidence same;
  same.word = Verdict::kNoEffect;
  same.p_no_effect = 0.001;
  TableEvidence undecided = Helping(0.0001);
  undecided.word = Verdict::kUndecided;
  const std::vector<TableVerdict> judged = JudgeTable({Helping(0.012), hurting, same, undecided}, 4, 0.05);
  // Of the `helps`, the undecided one is rejected first, which its doubts take back; 3 · 0.012. 4 · 0.02 is too much.
  EXPECT_THAT(Standing(judged), testing::ElementsAre(true, false, true, false));
  EXPECT_EQ(judged[3].p, 1.0);
}

// One verdict by itself stands if it is one.
TEST(JudgeTable, OneVerdict) {
  EXPECT_TRUE(JudgeTable({Helping(0.049)}, 1, 0.05)[0].stands);
  EXPECT_TRUE(JudgeTable({}, 0, 0.05).empty());
}

JudgedRun RunWithWins(Plan plan, int wins) {
  std::vector<Sample> samples;
  for (int i = 1; i <= static_cast<int>(plan.suite.cases.size()); ++i) {
    for (const Arm arm : plan.arms) {
      Sample sample;
      sample.student = plan.students[0].spec;
      sample.case_id = "case-" + std::to_string(i);
      sample.arm = arm;
      sample.response.text = sample.case_id + ArmName(arm);
      sample.checks = {{"check", arm == Arm::kSkill && i <= wins ? Outcome::kPass : Outcome::kFail, ""}};
      samples.push_back(std::move(sample));
    }
  }
  return Judge(RunData(std::move(plan), std::move(samples)));
}

// The share that looks leave divides the p-value: a first look has 4/5 of alpha, a second one 1/10.
TEST(TableEvidenceOf, CountsLooks) {
  Plan plan = MakeTestPlan(12);
  const TableEvidence alone = TableEvidenceOf(RunWithWins(plan, 12), 0);
  EXPECT_EQ(alone.word, Verdict::kHelps);
  EXPECT_GT(alone.p_helps, 0.0);
  EXPECT_LT(alone.p_helps, 0.001);  // 2^-12 and what is kept for further rounds
  EXPECT_EQ(alone.p_no_effect, 1.0);
  plan.share.look = 1;
  EXPECT_THAT(TableEvidenceOf(RunWithWins(plan, 12), 0).p_helps, DoubleNear(alone.p_helps * 1.25, 1e-9));
  plan.share.look = 2;
  EXPECT_THAT(TableEvidenceOf(RunWithWins(plan, 12), 0).p_helps, DoubleNear(alone.p_helps * 10.0, 1e-9));
}

// What the confidence sequence rests on: the wealth against −30 and +30 points, twice for its two sides.
TEST(TableEvidenceOf, NoEffect) {
  Plan plan = MakeTestPlan(100);
  plan.verdict.margin = 0.3;
  const JudgedRun run = RunWithWins(plan, 0);
  const TableEvidence evidence = TableEvidenceOf(run, 0);
  EXPECT_EQ(evidence.word, Verdict::kNoEffect);
  // 100 ties against a margin of 0.3: ∫₀¹ (1 − u + u/0.7)^100 du, in closed form.
  const double growth = 1.0 / 0.7 - 1.0;
  const double wealth = (std::pow(1.0 + growth, 101.0) - 1.0) / (101.0 * growth);
  EXPECT_THAT(evidence.p_no_effect, DoubleNear(1.0 / wealth, 1e-9 / wealth));
}

// Answers that were lost may have told against the skill.
TEST(TableEvidenceOf, LostAnswersTellAgainstIt) {
  JudgedRun run = RunWithWins(MakeTestPlan(12), 12);
  run.verdicts[0].safe_p_helps = 0.5;
  EXPECT_EQ(TableEvidenceOf(run, 0).p_helps, 0.5);
}

}  // namespace
}  // namespace upskill
