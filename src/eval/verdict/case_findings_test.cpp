// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/case_findings.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "stats/e_process.h"
#include "support/plan_fixture.h"
#include "support/work_meter.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

// Whether a cell passes, by case (from 1) and round.
using PassesIn = std::function<bool(int, int)>;

RunData RunWith(const Plan& plan, const PassesIn& without, const PassesIn& with) {
  std::vector<Sample> samples;
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      for (const Arm arm : plan.arms) {
        Sample sample;
        sample.student = plan.students[0].spec;
        sample.case_id = plan.suite.cases[i].id;
        sample.arm = arm;
        sample.round = round;
        const bool passed = (arm == Arm::kSkill ? with : without)(static_cast<int>(i) + 1, round);
        sample.response.text = sample.case_id + std::to_string(round);
        sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
        samples.push_back(std::move(sample));
      }
    }
  }
  return RunData(plan, std::move(samples));
}

CaseFindings FindingsOf(const Plan& plan, const PassesIn& without, const PassesIn& with) {
  return FindCaseFindings(RunWith(plan, without, with), Arm::kBaseline).at(0);
}

TEST(CaseFindings, CasesThatTurn) {
  // Rounds passed out of four: case 1 from 1 to 3, case 2 from 4 to 0, case 3 from 2 to 4, case 4 from 1 to 2.
  const CaseFindings findings = FindingsOf(
      MakeTestPlan(4, 4),
      [](int number, int round) {
        return round < (number == 1 ? 1 : number == 2 ? 4 : number == 3 ? 2 : 1);
      },
      [](int number, int round) {
        return round < (number == 1 ? 3 : number == 2 ? 0 : number == 3 ? 4 : 2);
      });
  EXPECT_THAT(findings.fixed, ElementsAre("case-1"));
  EXPECT_THAT(findings.broken, ElementsAre("case-2"));
}

TEST(CaseFindings, LiftOfTags) {
  Plan plan = MakeTestPlan(4, 2);
  plan.suite.cases[0].tags = {"b", "a"};
  plan.suite.cases[1].tags = {"a"};
  const CaseFindings findings =
      FindingsOf(plan, [](int, int) { return false; }, [](int number, int round) { return number == 1 || round == 0; });
  ASSERT_THAT(findings.tags, SizeIs(2));
  EXPECT_EQ(findings.tags[0].tag, "b");
  EXPECT_THAT(findings.tags[0].group.lift, Optional(1.0));
  EXPECT_EQ(findings.tags[1].group.cases, 2U);
  EXPECT_THAT(findings.tags[1].group.lift, Optional(0.75));
  EXPECT_TRUE(findings.tags[1].group.interval.has_value());
  EXPECT_FALSE(findings.tags[1].group.new_cases.has_value());  // too few
}

TEST(CaseFindings, ManyTagsTakeLinearTime) {
  const auto findings_of = [](std::size_t count) {
    Plan plan = MakeTestPlan(4, 2);
    for (Case& one : plan.suite.cases) {
      for (std::size_t i = 0; i < count; ++i) one.tags.push_back(one.id + " " + std::to_string(i));
    }
    return [plan] {
      const auto never = [](int, int) { return false; };
      EXPECT_EQ(FindingsOf(plan, never, never).tags.size(), 4 * plan.suite.cases[0].tags.size());
    };
  };
  EXPECT_LT(GrowthPerDoubling(2000, findings_of), kMaxGrowthPerDoubling);
}

// Where the number of rounds depends on the answers, an interval for a fixed number would promise too much.
TEST(CaseFindings, TagsOfARunThatMayStopHaveASequence) {
  Plan plan = MakeTestPlan(4, 6);
  plan.suite.cases[0].tags = plan.suite.cases[1].tags = {"a"};
  plan.stop_when_decided = true;
  const CaseFindings findings =
      FindingsOf(plan, [](int, int) { return false; }, [](int number, int) { return number == 1; });
  LiftSequence sequence(0.05);
  for (int round = 1; round <= 6; ++round) sequence.Add({1.0 * round, 1.0 * round, 0});
  ASSERT_TRUE(findings.tags[0].group.interval.has_value());
  EXPECT_TRUE(findings.tags[0].group.interval_is_sequence);
  EXPECT_DOUBLE_EQ(findings.tags[0].group.interval->low, sequence.range().low);
  EXPECT_DOUBLE_EQ(findings.tags[0].group.interval->high, sequence.range().high);
  plan.stop_when_decided = false;
  EXPECT_FALSE(FindingsOf(
                   plan, [](int, int) { return false; }, [](int, int) { return true; })
                   .tags[0]
                   .group.interval_is_sequence);
}

TEST(CaseFindings, EachInputOfATagCountsOnce) {
  Plan plan = MakeTestPlan(4, 2);
  for (Case& test_case : plan.suite.cases) test_case.tags = {"all"};
  for (std::size_t i = 0; i < 3; ++i) plan.suite.cases[i].input = "the same";
  const CaseFindings findings =
      FindingsOf(plan, [](int, int) { return false; }, [](int number, int) { return number <= 3; });
  EXPECT_EQ(findings.tags[0].group.cases, 4U);
  EXPECT_THAT(findings.tags[0].group.lift, Optional(0.5));  // one of two inputs
}

// Twelve cases from seven sources say less about new ones than twelve from twelve.
TEST(CaseFindings, CasesFromOneSourceCountAsOne) {
  Plan plan = MakeTestPlan(12, 2);
  for (Case& test_case : plan.suite.cases) test_case.tags = {"all"};
  const auto none = [](int, int) { return false; };
  const auto first_half = [](int number, int) { return number <= 6; };
  const Interval apart = *FindingsOf(plan, none, first_half).tags[0].group.new_cases;
  for (std::size_t i = 0; i < 6; ++i) plan.suite.cases[i].source = "guide.md";
  const Interval together = *FindingsOf(plan, none, first_half).tags[0].group.new_cases;
  EXPECT_GT(together.high - together.low, 1.2 * (apart.high - apart.low));
}

TEST(CaseFindings, CasesUsedToWriteTheSkill) {
  Plan plan = MakeTestPlan(3, 2);
  EXPECT_EQ(FindingsOf(plan, [](int, int) { return false; }, [](int, int) { return true; }).train_cases, 0U);
  plan.suite.cases[0].split = Split::kTrain;
  plan.suite.cases[1].split = Split::kTrain;
  plan.suite.cases[2].split = Split::kTest;
  const CaseFindings findings =
      FindingsOf(plan, [](int, int) { return false; }, [](int number, int) { return number < 3; });
  EXPECT_EQ(findings.train_cases, 2U);
  EXPECT_EQ(findings.others.cases, 1U);
  EXPECT_THAT(findings.others.lift, Optional(0.0));
}

TEST(CaseFindings, PassOfKTakesAllAnswers) {
  const CaseFindings findings = FindingsOf(
      MakeTestPlan(2, 5), [](int, int) { return false; },
      [](int number, int round) { return number == 1 || round == 0; });
  const std::vector<PassOfK>& rows = findings.pass_of_k.at(Arm::kSkill);
  ASSERT_THAT(rows, SizeIs(4));  // 1, 2, 3, 5
  EXPECT_EQ(rows[1].k, 2);
  EXPECT_NEAR(rows[1].any.mean, (1.0 + 0.4) / 2.0, 1e-12);
  EXPECT_NEAR(rows[1].all.mean, (1.0 + 0.0) / 2.0, 1e-12);
  EXPECT_EQ(findings.pass_of_k.at(Arm::kBaseline)[3].any.mean, 0.0);
}

TEST(CaseFindings, Drift) {
  const auto half = [](int number, int round) { return (number + round) % 2 == 0; };
  const auto later = [](int, int round) { return round >= 2; };
  const CaseFindings changed = FindingsOf(MakeTestPlan(6, 4), half, later);
  // The skill's arm: each of six cases has its two passes last, which is one of six places.
  EXPECT_THAT(changed.drift->by_arm.at(Arm::kSkill), DoubleNear(2.0 / 46656.0, 1e-12));
  EXPECT_THAT(changed.drift->p, DoubleNear(4.0 / 46656.0, 1e-12));
  EXPECT_TRUE(changed.drift->is_significant());
  EXPECT_FALSE(FindingsOf(MakeTestPlan(6, 4), half, half).drift->is_significant());
  EXPECT_FALSE(FindingsOf(MakeTestPlan(6, 1), half, half).drift.has_value());
}

TEST(CaseFindings, OfARunWithoutComparison) {
  Plan plan = MakeTestPlan(2, 2);
  plan.arms = {Arm::kSkill};
  const CaseFindings findings = FindingsOf(plan, [](int, int) { return false; }, [](int, int) { return true; });
  EXPECT_THAT(findings.fixed, IsEmpty());
  EXPECT_FALSE(findings.drift.has_value());
  EXPECT_EQ(findings.pass_of_k.at(Arm::kSkill).back().all.mean, 1.0);
}

TEST(KsUpTo, EndsWithTheNumberOfAnswers) {
  EXPECT_THAT(KsUpTo(0), IsEmpty());
  EXPECT_THAT(KsUpTo(3), ElementsAre(1, 2, 3));
  EXPECT_THAT(KsUpTo(7), ElementsAre(1, 2, 3, 5, 7));
}

}  // namespace
}  // namespace upskill
