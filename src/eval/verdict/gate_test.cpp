// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/gate.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/answers_fixture.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Twelve cases in ten rounds. haiku passes 60 % without the skill, all with it, and 90 % with the previous version;
// opus passes all but one answer in twelve in every arm.
struct JudgedStudents {
  explicit JudgedStudents(std::vector<Arm> arms = {Arm::kBaseline, Arm::kSkill}, int rounds = 10) {
    Plan plan = MakeTestPlan(12, rounds, {"haiku", "opus"});
    plan.arms = std::move(arms);
    run = Judge(AnsweredRun(plan, [](std::size_t student, Arm arm, std::size_t i, int round) {
      const int turn = (static_cast<int>(i) + round) % 10;
      if (student == 1) return i != 0;
      if (arm == Arm::kBaseline) return turn < 6;
      return arm == Arm::kSkill || turn < 9;
    }));
  }

  // Which clauses hold for which student and comparison: "haiku:1 opus:0".
  std::string Check(const std::string& text) const {
    const Result<Gate> gate = ParseGate(text, run.plan());
    if (!gate) return gate.error().message;
    std::string out;
    for (const GateResult& result : CheckGate(*gate, run)) {
      const std::string versus = run.plan().arms.size() > 2 && !result.against.empty() ? "/" + result.against : "";
      out += (out.empty() ? "" : " ") + result.model + versus + (result.passed ? ":1" : ":0");
    }
    return out;
  }

  std::string Detail(const std::string& text) const { return CheckGate(*ParseGate(text), run)[0].detail; }

  JudgedRun run;
};

TEST(ParseGate, Clauses) {
  const Result<Gate> gate =
      ParseGate(" helps: haiku , glm ;not-hurts:*; tokens<+20%;; lift:haiku>10 ; not-hurts:* vs previous:10");
  ASSERT_TRUE(gate.ok());
  ASSERT_THAT(gate->clauses, SizeIs(5));
  EXPECT_EQ(gate->clauses[0].kind, GateClause::Kind::kVerdict);
  EXPECT_EQ(gate->clauses[0].verdict, Verdict::kHelps);
  EXPECT_THAT(gate->clauses[0].models, ElementsAre("haiku", "glm"));
  EXPECT_EQ(gate->clauses[1].kind, GateClause::Kind::kNotHurts);
  EXPECT_TRUE(gate->clauses[1].models.empty());
  EXPECT_FALSE(gate->clauses[1].against);
  EXPECT_TRUE(gate->clauses[2].less);
  EXPECT_DOUBLE_EQ(gate->clauses[2].bound, 0.2);
  EXPECT_FALSE(gate->clauses[3].less);
  EXPECT_DOUBLE_EQ(gate->clauses[3].bound, 0.1);
  EXPECT_EQ(gate->clauses[3].text, "lift:haiku>10");
  EXPECT_EQ(gate->clauses[4].against, Arm::kPrevious);
  EXPECT_DOUBLE_EQ(*gate->clauses[4].margin, 0.1);
}

TEST(ParseGate, ChoicesMarginsAndEstimates) {
  const Gate gate = *ParseGate(
      "not-worse:haiku+skill vs sim:base=0.4:7; better:a vs b+previous; lift:a vs placebo>10@estimate; "
      "not-hurts:a,b:10 vs placebo");
  ASSERT_THAT(gate.clauses, SizeIs(4));
  EXPECT_EQ(gate.clauses[0].choices[0].model, "haiku");
  EXPECT_EQ(gate.clauses[0].choices[0].arm, Arm::kSkill);
  EXPECT_EQ(gate.clauses[0].choices[1].model, "sim:base=0.4");
  EXPECT_EQ(gate.clauses[0].choices[1].arm, Arm::kBaseline);
  EXPECT_DOUBLE_EQ(*gate.clauses[0].margin, 0.07);
  EXPECT_TRUE(gate.clauses[1].better);
  EXPECT_EQ(gate.clauses[1].choices[1].arm, Arm::kPrevious);
  EXPECT_TRUE(gate.clauses[2].by_estimate);
  EXPECT_EQ(gate.clauses[2].against, Arm::kPlacebo);
  EXPECT_THAT(gate.clauses[2].models, ElementsAre("a"));
  EXPECT_DOUBLE_EQ(*gate.clauses[3].margin, 0.1);
  EXPECT_EQ(gate.clauses[3].against, Arm::kPlacebo);
}

TEST(ParseGate, ErrorsNameTheProblem) {
  const auto error = [](const std::string& text) { return ParseGate(text).error().message; };
  EXPECT_THAT(error("wins:*"), HasSubstr("gate clause 'wins:*': unknown verdict 'wins'"));
  EXPECT_THAT(error("helps"), HasSubstr("name the models"));
  EXPECT_THAT(error("helps:"), HasSubstr("no model after the colon"));
  EXPECT_THAT(error("joy>3"), HasSubstr("unknown quantity 'joy'"));
  EXPECT_THAT(error("lift>"), HasSubstr("not a number"));
  EXPECT_THAT(error("lift>ten"), HasSubstr("not a number"));
  EXPECT_THAT(error("lift>=60"), HasSubstr("write lift>60"));
  EXPECT_THAT(error("lift>1e999"), HasSubstr("not a number"));
  EXPECT_THAT(error("tokens<nan%"), HasSubstr("not a number"));
  EXPECT_THAT(error(" ; "), HasSubstr("the gate is empty"));
  EXPECT_THAT(error("helps:* vs skill"), HasSubstr("'skill' is not a comparison"));
  EXPECT_THAT(error("not-worse:haiku"), HasSubstr("name two choices"));
  EXPECT_THAT(error("helps:*:10"), HasSubstr("only not-hurts and not-worse have a margin"));
  EXPECT_THAT(error("not-hurts:*:0"), HasSubstr("the margin must be between"));
  EXPECT_THAT(error("pass vs previous>50%"), HasSubstr("isn't compared with an arm"));
}

TEST(ParseGate, NotRegressedIsAboutThePreviousVersion) {
  const Gate gate = *ParseGate("not-regressed; not-regressed:haiku vs baseline");
  ASSERT_THAT(gate.clauses, SizeIs(2));
  EXPECT_EQ(gate.clauses[0].kind, GateClause::Kind::kNotRegressed);
  EXPECT_EQ(gate.clauses[0].against, Arm::kPrevious);
  EXPECT_TRUE(gate.clauses[0].models.empty());
  EXPECT_EQ(gate.clauses[1].against, Arm::kBaseline);
  EXPECT_THAT(gate.clauses[1].models, ElementsAre("haiku"));
  EXPECT_FALSE(ParseGate("not-regressed:*:10"));
  EXPECT_FALSE(ParseGate("not-regressed@estimate"));
}

// pass>0.5 would hold for nearly every skill.
TEST(ParseGate, AFractionIsNotAPercentage) {
  const auto error = [](const std::string& text) { return ParseGate(text).error().message; };
  EXPECT_THAT(error("pass>0.5"), HasSubstr("bounds are in percent: write pass>50%, or pass>0.5% if you mean that"));
  EXPECT_THAT(error("lift>0.1"), HasSubstr("bounds are in points: write lift>10, or lift>0.1%"));
  EXPECT_THAT(error("tokens<0.2"), HasSubstr("write tokens<20%"));
  EXPECT_THAT(error("pass>120%"), HasSubstr("a pass rate is from 0 to 100 %"));
  EXPECT_THAT(error("lift>200"), HasSubstr("from -100 to 100 points"));
  EXPECT_THAT(error("not-hurts:*:0.1"), HasSubstr("the margin is in points: write 10"));
  EXPECT_TRUE(ParseGate("pass>0.5%; cost<0; lift>-1").ok());
}

TEST(CheckGate, Verdicts) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("helps:haiku"), "haiku:1");
  EXPECT_EQ(students.Check("helps:*"), "haiku:1 opus:0");
  EXPECT_EQ(students.Check("not-undecided:haiku"), "haiku:1");
  EXPECT_EQ(students.Check("hurts:*"), "haiku:0 opus:0");
  EXPECT_EQ(students.Detail("hurts:haiku"), "helps");
}

// "not hurts" used to hold for whatever was undecided.
TEST(CheckGate, NotHurtsHoldsOnlyIfALossIsRuledOut) {
  EXPECT_EQ(JudgedStudents().Check("not-hurts:*"), "haiku:1 opus:1");
  const JudgedStudents few({Arm::kBaseline, Arm::kSkill}, 1);
  EXPECT_EQ(few.Check("not-hurts:opus"), "opus:0");
  EXPECT_EQ(few.Check("not-hurts:opus:30"), "opus:1");
  EXPECT_EQ(few.Check("not-hurts:opus@estimate"), "opus:1");
  EXPECT_THAT(few.Detail("not-hurts:opus"),
              AllOf(HasSubstr("0.0 points, at least -"), HasSubstr("(95 %); about "), HasSubstr("more rounds")));
}

// Gates ignored every comparison but one.
TEST(CheckGate, LooksAtEveryComparisonUnlessItNamesOne) {
  const JudgedStudents students({Arm::kBaseline, Arm::kSkill, Arm::kPrevious});
  EXPECT_EQ(students.Check("helps:haiku"), "haiku/baseline:1 haiku/previous:1");
  EXPECT_EQ(students.Check("helps:haiku vs previous"), "haiku/previous:1");
  EXPECT_EQ(students.Check("lift:haiku>20"), "haiku/baseline:1 haiku/previous:0");
  EXPECT_EQ(students.Check("lift:haiku vs baseline>20"), "haiku/baseline:1");
  JudgedStudents worse({Arm::kBaseline, Arm::kSkill, Arm::kPrevious});
  worse.run = Judge(AnsweredRun(worse.run.plan(), [](std::size_t, Arm arm, std::size_t i, int) {
    return arm == Arm::kPrevious || (arm == Arm::kSkill && i < 6);
  }));
  EXPECT_EQ(worse.Check("not-hurts:haiku"), "haiku/baseline:1 haiku/previous:0");
}

TEST(CheckGate, BoundsNotEstimates) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("lift:haiku>25"), "haiku:1");
  EXPECT_EQ(students.Check("lift:haiku>39"), "haiku:0") << "the lift is 40 points";
  EXPECT_EQ(students.Check("lift:haiku>39@estimate"), "haiku:1");
  EXPECT_EQ(students.Check("lift:opus<5"), "opus:1");
  EXPECT_THAT(students.Detail("lift:haiku>39"), AllOf(HasSubstr("+40.0 points, at least +3"), HasSubstr("(95 %)")));
  EXPECT_EQ(students.Check("pass:opus>85%"), "opus:1");
  EXPECT_EQ(students.Check("pass:opus>90%"), "opus:0") << "11 of 12";
  EXPECT_EQ(students.Check("pass:opus>90%@estimate"), "opus:1");
}

// A run that shows no runaway answers isn't one without any.
TEST(CheckGate, ExpensesAllowForAnswersAsLongAsTheLimit) {
  JudgedStudents students;
  EXPECT_EQ(students.Check("tokens<+20%"), "haiku:0 opus:0");
  EXPECT_EQ(students.Check("tokens<+20%@estimate"), "haiku:1 opus:1");
  EXPECT_EQ(students.Check("tokens<0@estimate"), "haiku:0 opus:0") << "equal is not less";
  EXPECT_EQ(students.Check("seconds:haiku<1%@estimate"), "haiku:1");
  EXPECT_THAT(students.Detail("tokens:haiku<+20%"), HasSubstr("--max-tokens"));
  Plan plan = students.run.plan();
  plan.sampling.max_tokens = 1;  // no answer can be longer than those seen
  students.run = Judge(AnsweredRun(plan, [](std::size_t, Arm, std::size_t, int) { return true; }));
  EXPECT_EQ(students.Check("tokens<+20%"), "haiku:1 opus:1");
}

TEST(CheckGate, BoundsHoldAtWhatEarlierLooksLeaveOfAlpha) {
  JudgedStudents students;
  const std::string first = students.Detail("lift:haiku>10");
  EXPECT_THAT(first, HasSubstr("(95 %)"));
  AlphaShare share;
  share.look = 2;
  students.run.data.set_share(share);
  const std::string second = students.Detail("lift:haiku>10");
  EXPECT_THAT(second, HasSubstr("(99.5 %)"));
  EXPECT_NE(first.substr(0, first.find('(')), second.substr(0, second.find('(')));  // the bound is lower
}

TEST(CheckGate, WithoutALiftFewRoundsShowNone) {
  const JudgedStudents few({Arm::kBaseline, Arm::kSkill}, 1);
  EXPECT_EQ(few.Check("lift:haiku>30@estimate"), "haiku:1");
  EXPECT_EQ(few.Check("lift:haiku>30"), "haiku:0");
}

TEST(CheckGate, ChoicesOfDifferentModels) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("not-worse:haiku+skill vs opus:5"), ":1");
  EXPECT_EQ(students.Check("better:haiku+skill vs opus"), ":1");
  EXPECT_EQ(students.Check("not-worse:haiku vs opus:5"), ":0");
  EXPECT_EQ(students.Check("better:opus vs haiku+skill"), ":0");
  EXPECT_THAT(students.Check("not-worse:haiku+previous vs opus"), HasSubstr("no arm 'previous'; add --against DIR"));
  EXPECT_THAT(students.Check("not-worse:kimi vs opus"), HasSubstr("the run has no model 'kimi'"));
  EXPECT_THAT(students.Check("better:haiku vs haiku"), HasSubstr("both choices are the same"));
}

TEST(CheckGate, InGeneral) {
  JudgedStudents students;
  EXPECT_EQ(students.Check("helps-in-general:opus"), "opus:0");
  students.run = Judge(
      AnsweredRun(students.run.plan(), [](std::size_t, Arm arm, std::size_t, int) { return arm == Arm::kSkill; }));
  EXPECT_EQ(students.Check("helps-in-general:*"), "haiku:1 opus:1");
  EXPECT_THAT(students.Detail("helps-in-general:*"), HasSubstr("in general: helps"));
}

TEST(CheckGate, WhatIsUnknownDoesNotPass) {
  JudgedStudents students;
  EXPECT_EQ(students.Check("cost<1000"), "haiku:0 opus:0");
  EXPECT_EQ(students.Detail("cost<1000"), "unknown");
  students.run = Judge(RunData(students.run.plan()));  // no answers
  EXPECT_EQ(students.Check("not-hurts:haiku; undecided:haiku; lift:haiku<99; pass:haiku>0; helps-in-general:haiku"),
            "haiku:0 haiku:0 haiku:0 haiku:0 haiku:0");
}

TEST(CheckGate, WhatThePlanDoesNotHaveIsAnError) {
  const JudgedStudents students;
  EXPECT_EQ(students.Check("helps:haiku,kimi"), "gate clause 'helps:haiku,kimi': the run has no model 'kimi'");
  EXPECT_THAT(students.Check("helps:* vs previous"), HasSubstr("the run has no arm 'previous'; add --against DIR"));
  const JudgedStudents alone({Arm::kSkill});
  EXPECT_THAT(alone.Check("helps:*"), HasSubstr("nothing to compare the skill with; leave out --no-baseline"));
  EXPECT_EQ(alone.Check("pass:haiku>50%"), "haiku:1");
}

// A suite of six facts in one round, of which these cases fail with the new version.
std::vector<GateResult> AfterLosing(const std::vector<std::size_t>& lost, const std::string& gate = "not-regressed",
                                    int rounds = 1, const std::vector<std::string>& students = {"haiku"}) {
  Plan plan = MakeTestPlan(6, rounds, students);
  plan.arms = {Arm::kPrevious, Arm::kSkill};
  return CheckGate(*ParseGate(gate, plan), Judge(AnsweredRun(plan, [&](std::size_t, Arm arm, std::size_t i, int) {
    return arm == Arm::kPrevious || std::find(lost.begin(), lost.end(), i) == lost.end();
  })));
}

TEST(NotRegressed, FourOfSixFactsLostFail) {
  const GateResult result = AfterLosing({1, 2, 3, 5})[0];
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.against, "previous");
  EXPECT_THAT(result.detail, AllOf(HasSubstr("100 % → 33 %"), HasSubstr("case-2, case-3, case-4, case-6 broke")));
}

TEST(NotRegressed, SaysWhichLossWouldHaveBeenFound) {
  for (const std::vector<std::size_t>& lost : {std::vector<std::size_t>{}, {1, 2}}) {
    const GateResult result = AfterLosing(lost)[0];
    EXPECT_TRUE(result.passed);
    EXPECT_THAT(result.detail,
                AllOf(HasSubstr("points or more would have been found in 90 % of runs"), Not(HasSubstr("broke"))))
        << "one round tells little of a case";
  }
}

TEST(NotRegressed, WhereAnswersRepeatOnlyMoreCasesWouldTell) {
  Plan plan = MakeTestPlan(2, 1, {"haiku"});
  plan.arms = {Arm::kPrevious, Arm::kSkill};
  const auto detail = [&] {
    const JudgedRun run = Judge(AnsweredRun(plan, [](std::size_t, Arm, std::size_t, int) { return true; }));
    return CheckGate(*ParseGate("not-regressed", plan), run)[0].detail;
  };
  EXPECT_THAT(detail(), HasSubstr("add cases or raise --runs"));
  plan.sampling.temperature = 0.0;
  EXPECT_THAT(detail(), AllOf(HasSubstr("add cases"), Not(HasSubstr("--runs"))));
}

TEST(NotRegressed, MoreRoundsAreAdvisedOnlyWhereTheyWouldTell) {
  Plan plan = MakeTestPlan(12, 30, {"haiku"});
  plan.arms = {Arm::kPrevious, Arm::kSkill};
  plan.stop_when_decided = true;
  const auto hardly = [](std::size_t, Arm, std::size_t case_index, int) { return case_index == 0; };
  const JudgedRun run = Judge(AnsweredRun(plan, hardly));
  EXPECT_THAT(CheckGate(*ParseGate("not-regressed", plan), run)[0].detail,
              AllOf(HasSubstr("add cases"), Not(HasSubstr("--runs"))));
}

// Each model's share of the error probability is half.
TEST(NotRegressed, SeveralModelsShareTheErrorProbability) {
  EXPECT_FALSE(AfterLosing({0, 1, 2, 3}, "not-regressed", 1, {"haiku", "opus"})[0].passed) << "p = 0.019";
  EXPECT_TRUE(AfterLosing({0, 1, 2, 3}, "not-regressed", 1, {"haiku", "opus", "sonnet"})[0].passed);
  EXPECT_FALSE(AfterLosing({0, 1, 2, 3}, "not-regressed:opus", 1, {"haiku", "opus", "sonnet"})[0].passed);
}

// What earlier looks have spent is another claim's.
TEST(NotRegressed, EachRunHasAClaimOfItsOwn) {
  Plan plan = MakeTestPlan(6, 1, {"haiku"});
  plan.arms = {Arm::kPrevious, Arm::kSkill};
  plan.share.look = 9;
  const JudgedRun run =
      Judge(AnsweredRun(plan, [](std::size_t, Arm arm, std::size_t i, int) { return arm == Arm::kPrevious || i < 2; }));
  EXPECT_FALSE(CheckGate(*ParseGate("not-regressed", plan), run)[0].passed);
}

TEST(NotRegressed, CasesWithOneInputAreOneUnit) {
  Plan plan = MakeTestPlan(6, 1, {"haiku"});
  for (Case& one : plan.suite.cases) one.input = "the same";
  plan.arms = {Arm::kPrevious, Arm::kSkill};
  const JudgedRun run =
      Judge(AnsweredRun(plan, [](std::size_t, Arm arm, std::size_t, int) { return arm == Arm::kPrevious; }));
  EXPECT_TRUE(CheckGate(*ParseGate("not-regressed", plan), run)[0].passed) << "perhaps copies of one answer";
}

}  // namespace
}  // namespace upskill
