// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/judge_correction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/plan_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

CheckSpec JudgeSpec() {
  CheckSpec check;
  check.type = "judge";
  check.options["rubric"] = "It is right.";
  return check;
}

// Answers of a run that are truly right with these chances, as a judge with these rates sees them.
struct World {
  int cases = 12;
  int rounds = 5;
  double baseline = 0.3;
  double skill = 0.6;
  double sensitivity = 0.9;
  double specificity = 0.8;

  RunData Draw(const JudgeRecord& record, Rng& rng) const {
    Plan plan = MakeTestPlan(cases, rounds);
    for (Case& test_case : plan.suite.cases) test_case.checks = {JudgeSpec()};
    plan.judge = RunJudge{"j", "j", "j", 1, record};
    std::vector<Sample> samples;
    for (const Case& test_case : plan.suite.cases) {
      for (int round = 0; round < rounds; ++round) {
        for (const Arm arm : plan.arms) {
          Sample sample;
          sample.student = plan.students[0].spec;
          sample.case_id = test_case.id;
          sample.arm = arm;
          sample.round = round;
          const bool right = rng.Uniform() < (arm == Arm::kSkill ? skill : baseline);
          const bool passes = rng.Uniform() < (right ? sensitivity : 1.0 - specificity);
          sample.response.text = std::to_string(samples.size());
          sample.checks = {{"judge", passes ? Outcome::kPass : Outcome::kFail, ""}};
          sample.judgments.push_back({"key", {passes ? JudgeWord::kMet : JudgeWord::kNotMet, "", {}}, {}, {}, 0.0});
          samples.push_back(std::move(sample));
        }
      }
    }
    return RunData(std::move(plan), std::move(samples));
  }

  // What people and the judge say of as many answers, half of them right.
  JudgeRecord Check(int answers, Rng& rng) const {
    JudgeRecord record;
    for (int i = 0; i < answers; ++i) {
      const bool right = i % 2 == 0;
      const bool passes = rng.Uniform() < (right ? sensitivity : 1.0 - specificity);
      record.counts.Add(passes, right);
    }
    record.rubrics_checked = 1;
    record.effective = EffectiveOf(record.counts);
    return record;
  }
};

JudgeRecord RecordOf(const ConfusionCounts& counts, int rubrics = 1) {
  return {counts, "", rubrics, EffectiveOf(counts), false};
}

JudgeRecord Perfect(std::int64_t answers) { return RecordOf({answers, 0, 0, answers}); }

TEST(JudgeCorrectedLift, OfAPerfectJudgeIsTheMeasuredOne) {
  Rng rng(1);
  World world;
  world.sensitivity = world.specificity = 1.0;
  const RunData data = world.Draw(Perfect(1'000'000), rng);
  double with = 0.0;
  double without = 0.0;
  for (const SamplePtr& sample : data.samples())
    (sample->arm == Arm::kSkill ? with : without) += sample->passed() ? 1 : 0;
  const auto lift = JudgeCorrectedLift(data, 0);
  ASSERT_TRUE(lift.has_value());
  EXPECT_NEAR(lift->value, (with - without) / 60.0, 1e-9);
  EXPECT_TRUE(lift->interval.Contains(lift->value));
}

// A skill that makes answers look right may be what the judge likes.
TEST(JudgeCorrectedLift, NoneWhereTheJudgeErrsMoreOftenInOneArm) {
  Rng rng(2);
  World world;
  JudgeRecord record = Perfect(1000);
  EXPECT_TRUE(JudgeCorrectedLift(world.Draw(record, rng), 0).has_value());
  record.arms_differ = true;
  EXPECT_FALSE(JudgeCorrectedLift(world.Draw(record, rng), 0).has_value());
}

TEST(JudgeCorrectedLift, CoversTheTruthWhereTheJudgedLiftIsTooSmall) {
  Rng rng(7);
  const World world;
  constexpr int kDraws = 60;
  int covered = 0;
  double sum = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const JudgeRecord record = world.Check(200, rng);
    const auto lift = JudgeCorrectedLift(world.Draw(record, rng), 0);
    ASSERT_TRUE(lift.has_value());
    covered += lift->interval.Contains(0.3) ? 1 : 0;
    sum += lift->value;
  }
  EXPECT_GE(covered, 57) << "of 60: at least 95 %";
  EXPECT_NEAR(sum / kDraws, 0.3, 0.04) << "the judged lift is 0.21 on average";
}

TEST(JudgeCorrectedLift, NothingWhereTheErrorsAreNotKnown) {
  Rng rng(1);
  const World world;
  const auto corrected = [&](const JudgeRecord& record) { return JudgeCorrectedLift(world.Draw(record, rng), 0); };
  EXPECT_TRUE(corrected(Perfect(100)).has_value());
  EXPECT_FALSE(corrected(Perfect(1)).has_value()) << "two labels show nothing";
  EXPECT_FALSE(corrected(RecordOf({50, 50, 50, 50})).has_value()) << "no better than chance";
  EXPECT_FALSE(corrected(RecordOf({50, 0, 0, 0})).has_value()) << "people failed none";
  EXPECT_FALSE(corrected(RecordOf({50, 0, 0, 50}, 0)).has_value()) << "other rubrics";
}

TEST(JudgeCorrectedLift, NothingForRunsThatStopAndChecksItCannotTellApart) {
  Rng rng(1);
  const auto corrected = [&](auto change) {
    Plan plan = World().Draw(Perfect(100), rng).plan();
    change(plan);
    std::vector<Sample> samples;
    const RunData drawn = World().Draw(Perfect(100), rng);
    for (const SamplePtr& sample : drawn.samples()) samples.push_back(*sample);
    return JudgeCorrectedLift(RunData(plan, samples), 0).has_value();
  };
  EXPECT_TRUE(corrected([](Plan&) {}));
  EXPECT_FALSE(corrected([](Plan& plan) { plan.stop_when_decided = true; }));
  EXPECT_FALSE(corrected([](Plan& plan) { plan.judge.reset(); }));
  EXPECT_FALSE(corrected([](Plan& plan) { plan.suite.cases[0].checks.push_back(JudgeSpec()); }));
  EXPECT_FALSE(corrected([](Plan& plan) { plan.suite.cases[0].checks[0].options["against"] = "reference"; }));
  EXPECT_FALSE(corrected([](Plan& plan) {
    CheckSpec group;
    group.type = "any";
    group.members = {JudgeSpec()};
    plan.suite.cases[0].checks = {group};
  }));
}

}  // namespace
}  // namespace upskill
