// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/comparisons.h"

#include <gmock/gmock.h>

#include <cmath>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

// Each arm passes the cases up to a number, in one round.
RunData DataWith(const Plan& plan, const std::map<Arm, int>& passed) {
  std::vector<Sample> samples;
  for (int i = 1; i <= static_cast<int>(plan.suite.cases.size()); ++i) {
    for (const Arm arm : plan.arms) {
      Sample sample;
      sample.student = plan.students[0].spec;
      sample.case_id = "case-" + std::to_string(i);
      sample.arm = arm;
      sample.response.text = sample.case_id + ArmName(arm);
      sample.checks = {{"check", i <= passed.at(arm) ? Outcome::kPass : Outcome::kFail, ""}};
      samples.push_back(std::move(sample));
    }
  }
  return RunData(plan, std::move(samples));
}

Plan ThreeArms(int cases) {
  Plan plan = MakeTestPlan(cases);
  plan.arms.push_back(Arm::kPlacebo);
  plan.share.comparisons = 2;
  return plan;
}

TEST(EffectiveAlpha, IsSharedByLooksAndComparisons) {
  Plan plan = MakeTestPlan(1);
  EXPECT_DOUBLE_EQ(EffectiveAlpha(plan), 0.05);
  plan.share.look = 1;
  EXPECT_DOUBLE_EQ(EffectiveAlpha(plan), 0.04);
  plan.share.comparisons = 2;
  EXPECT_DOUBLE_EQ(EffectiveAlpha(plan), 0.02);
  plan.share.look = 2;
  EXPECT_DOUBLE_EQ(EffectiveAlpha(plan), 0.0025);
}

// Seven wins (p = 1/128) are enough for alpha, but not for a sixtieth of it.
TEST(JudgeComparisons, LaterLooksNeedMoreEvidence) {
  Plan plan = MakeTestPlan(7);
  for (const auto& [look, word] :
       {std::pair{0, Verdict::kHelps}, std::pair{1, Verdict::kHelps}, std::pair{4, Verdict::kUndecided}}) {
    plan.share.look = look;
    RunData data = DataWith(plan, {{Arm::kBaseline, 0}, {Arm::kSkill, 7}});
    EXPECT_EQ(JudgeComparisons(data).at(Arm::kBaseline)[0].word, word) << look;
  }
}

TEST(JudgeComparisons, ADecidedComparisonPassesItsShareOn) {
  const auto words = [](int baseline, int placebo) {
    const Plan plan = ThreeArms(9);
    RunData data = DataWith(plan, {{Arm::kBaseline, baseline}, {Arm::kSkill, 9}, {Arm::kPlacebo, placebo}});
    auto by_arm = JudgeComparisons(data);
    EXPECT_EQ(data.plan().share.comparisons, 2);
    return std::pair{by_arm.at(Arm::kBaseline)[0].word, by_arm.at(Arm::kPlacebo)[0].word};
  };
  // Of alpha, four fifths are for the planned round. Nine wins (p = 1/512) are enough for half of it, five (p = 1/32)
  // only for all of it.
  EXPECT_EQ(words(0, 4), (std::pair{Verdict::kHelps, Verdict::kHelps}));
  EXPECT_EQ(words(4, 4), (std::pair{Verdict::kUndecided, Verdict::kUndecided}));
  EXPECT_EQ(words(0, 9), (std::pair{Verdict::kHelps, Verdict::kUndecided}));
}

TEST(JudgeComparisons, EvidenceOfOtherSeedsCounts) {
  Plan plan = MakeTestPlan(5);
  plan.share.look = 2;                                                      // needs an e-value of 200
  RunData alone = DataWith(plan, {{Arm::kBaseline, 0}, {Arm::kSkill, 5}});  // 10.5
  EXPECT_EQ(JudgeComparisons(alone).at(Arm::kBaseline)[0].word, Verdict::kUndecided);
  plan.share.prior["fake"] = {std::log(20.0), std::log(0.1)};
  RunData combined = DataWith(plan, {{Arm::kBaseline, 0}, {Arm::kSkill, 5}});
  const StudentVerdict verdict = JudgeComparisons(combined).at(Arm::kBaseline)[0];
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_THAT(verdict.combined_e_helps, Optional(DoubleNear(210.0, 1e-6)));
  plan.share.prior["fake"].helps = std::log(18.0);
  RunData less = DataWith(plan, {{Arm::kBaseline, 0}, {Arm::kSkill, 5}});
  EXPECT_EQ(JudgeComparisons(less).at(Arm::kBaseline)[0].word, Verdict::kUndecided);
}

// Its own evidence would be enough at this share; together with the earlier seed's it isn't.
TEST(JudgeComparisons, ABadSeedCountsToo) {
  Plan plan = MakeTestPlan(12);
  plan.share.look = 2;
  plan.share.prior["fake"] = {std::log(0.1), 0.0};
  RunData data = DataWith(plan, {{Arm::kBaseline, 0}, {Arm::kSkill, 12}});  // 630
  EXPECT_EQ(JudgeComparisons(data).at(Arm::kBaseline)[0].word, Verdict::kUndecided);
}

TEST(AlphaShare, IsStoredWithThePlan) {
  Plan plan = MakeTestPlan(2);
  EXPECT_FALSE(PlanToJson(plan).contains("alpha_share"));
  plan.run = "r";
  plan.skill.lineage = "2026_11_20-aaaa";
  plan.share = {3, 2, 2, {{"fake", {1.5, -0.5}}}, {"2026_11_21_10_12_33-abcd"}, ""};
  const Result<Plan> read = PlanFromJson(PlanToJson(plan), "plan.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->skill.lineage, "2026_11_20-aaaa");
  EXPECT_EQ(read->share.look, 3);
  EXPECT_EQ(read->share.versions, 2);
  EXPECT_EQ(read->share.comparisons, 2);
  EXPECT_EQ(read->share.prior.at("fake").helps, 1.5);
  EXPECT_EQ(read->share.prior.at("fake").hurts, -0.5);
  EXPECT_EQ(read->share.prior_runs, plan.share.prior_runs);
}

}  // namespace
}  // namespace upskill
