// SPDX-License-Identifier: Apache-2.0
#include "teach/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "teach/generate.h"

namespace upskill {
namespace {

using testing::HasSubstr;

Candidate Measured(std::vector<double> train, std::size_t tokens) {
  Candidate candidate;
  candidate.kind = "edit";
  candidate.measured = true;
  candidate.train = std::move(train);
  candidate.tokens = tokens;
  candidate.status = "measured";
  return candidate;
}

Candidate NotMeasured(const std::string& status = "not measured") {
  Candidate candidate;
  candidate.kind = "edit";
  candidate.status = status;
  return candidate;
}

TEST(BestOnTrain, TheHigherMeanRateOverStudents) {
  EXPECT_EQ(BestOnTrain({Measured({0.4, 0.4}, 10), Measured({0.9, 0.1}, 500), Measured({0.3, 0.4}, 1)}), 1U);
}

TEST(BestOnTrain, TiesGoToTheShorterThenTheFirst) {
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 100), Measured({0.5}, 90), Measured({0.5}, 90)}), 1U);
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 90), Measured({0.5 + 1e-12}, 100)}), 0U) << "a rounding error isn't a lead";
}

TEST(BestOnTrain, UnmeasuredAndLossyCandidatesAreBeaten) {
  Candidate loser = Measured({0.9}, 10);
  loser.kind = "shorter";
  loser.lost = 1;
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 100), loser}), 0U);
  EXPECT_EQ(BestOnTrain({NotMeasured(), Measured({0.0}, 100)}), 1U);
  EXPECT_EQ(BestOnTrain({Measured({0.0}, 100), NotMeasured()}), 0U);
}

TEST(ChosenCandidate, TheLatestWhenNoneWasMeasured) {
  EXPECT_EQ(ChosenCandidate({NotMeasured(), NotMeasured()}), 1U);
  EXPECT_EQ(ChosenCandidate({NotMeasured(), Measured({0.1}, 5), NotMeasured()}), 1U);
}

TEST(StatusAfterChoice, DescribesEachOutcome) {
  Candidate loser = Measured({0.9}, 10);
  loser.lost = 2;
  EXPECT_EQ(StatusAfterChoice(loser, false), "loses 2 answers on train");
  loser.lost = 1;
  EXPECT_EQ(StatusAfterChoice(loser, false), "loses 1 answer on train");
  EXPECT_EQ(StatusAfterChoice(Measured({0.1}, 10), false), "beaten on train");
  EXPECT_EQ(StatusAfterChoice(Measured({0.1}, 10), true), "chosen");
  EXPECT_EQ(StatusAfterChoice(NotMeasured("screened out: 0 of 3"), false), "screened out: 0 of 3");
}

TEST(Screening, AChangeMustGainAndAShorterSkillMustNotLose) {
  EXPECT_FALSE(IsWorthMeasuring({2, 2}));
  EXPECT_TRUE(IsWorthMeasuring({3, 2}));
  EXPECT_FALSE(LosesNothing({2, 3}));
  EXPECT_TRUE(LosesNothing({3, 3}));
}

TEST(AcceptRule, ByName) {
  EXPECT_EQ(*AcceptRuleFromName("never-worse"), AcceptRule::kNeverWorse);
  EXPECT_THAT(AcceptRuleFromName("maybe").error().message, HasSubstr("--accept maybe"));
}

// A chosen draft compared with the existing skill for two students.
GenerateOutcome Compared(const std::vector<std::pair<Verdict, double>>& against) {
  GenerateOutcome outcome;
  outcome.candidates = {Measured({0.5}, 10), Measured({0.6}, 10)};
  outcome.candidates[0].kind = "existing";
  outcome.candidates[1].kind = "draft";
  outcome.chosen = 1;
  outcome.measured.emplace();
  for (const auto& [word, lift] : against) {
    StudentSummary student;
    student.student.name = "student-" + std::to_string(outcome.measured->judged.summary.students.size());
    outcome.measured->judged.summary.students.push_back(std::move(student));
    StudentVerdict verdict;
    verdict.word = word;
    verdict.lift = lift;
    outcome.measured->judged.others[Arm::kPrevious].push_back(verdict);
  }
  return outcome;
}

TEST(ReasonToReject, ASkillThatReplacesAnother) {
  const GenerateOutcome better = Compared({{Verdict::kHelps, 0.3}, {Verdict::kUndecided, 0.0}});
  EXPECT_EQ(ReasonToReject(better, AcceptRule::kHelps), "");
  EXPECT_EQ(ReasonToReject(better, AcceptRule::kNeverWorse), "");

  const GenerateOutcome harmful = Compared({{Verdict::kHelps, 0.3}, {Verdict::kHurts, -0.3}});
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kHelps), "it is worse than the existing one for student-1");
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kNeverWorse), "it is worse than the existing one for student-1");
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kAny), "");

  const GenerateOutcome lower = Compared({{Verdict::kUndecided, -0.04}});
  EXPECT_EQ(ReasonToReject(lower, AcceptRule::kNeverWorse),
            "its pass rate is 4 points below the existing one's for student-0");
  EXPECT_THAT(ReasonToReject(lower, AcceptRule::kHelps), HasSubstr("isn't shown to be better"));
}

TEST(ReasonToReject, NothingIsReplacedWithoutAnExistingSkill) {
  GenerateOutcome outcome = Compared({{Verdict::kHurts, -1.0}});
  outcome.candidates[0].kind = "draft";
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kHelps), "");
  outcome.candidates[0].kind = "existing";
  outcome.chosen = 0;
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kHelps), "") << "the existing one itself won";
  outcome.chosen = 1;
  outcome.measured.reset();
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kNeverWorse), "it was not measured");
}

}  // namespace
}  // namespace upskill
