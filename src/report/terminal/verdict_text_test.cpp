// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/verdict_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/terminal/figures.h"
#include "support/report_fixture.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ClaimText, SaysWhatItIsAbout) {
  StudentVerdict verdict;
  EXPECT_EQ(ClaimText(verdict), "undecided");
  verdict.word = Verdict::kHelps;
  verdict.cases = 14;
  EXPECT_EQ(ClaimText(verdict), "helps on these 14 cases; unproven for new ones");
  verdict.general = Verdict::kHelps;
  EXPECT_EQ(ClaimText(verdict), "helps, also on new cases of this kind");
  verdict.general = Verdict::kUndecided;
  verdict.cases = 1;
  EXPECT_EQ(ClaimText(verdict), "helps on this case; unproven for new ones");
  verdict.cases = 14;
  verdict.hangs_on_wording = true;
  EXPECT_EQ(ClaimText(verdict), "helps on exactly these 14 cases; rewording may reverse it");
}

// A claim about new cases is followed by the interval for new cases, not by the one for these.
TEST(VerdictText, TheIntervalForNewCasesLeads) {
  StudentVerdict verdict = ReportRun().verdicts.front();
  verdict.new_cases_low = 0.1;
  verdict.new_cases_high = 0.9;
  EXPECT_THAT(VerdictText(verdict), Not(HasSubstr("+10 … +90")));
  EXPECT_THAT(LiftText(verdict, 0.5), HasSubstr("+25 … +75"));
  verdict.general = Verdict::kHelps;
  EXPECT_THAT(VerdictText(verdict), HasSubstr("(likely +10 … +90)"));
  EXPECT_EQ(LiftText(verdict, 0.5), "+50 points");
  EXPECT_EQ(TheseCasesText(verdict), "likely +25 … +75");
}

TEST(ClaimText, NamesADoubt) {
  StudentVerdict verdict;
  verdict.doubt = Doubt::kErrors;
  EXPECT_EQ(ClaimText(verdict), "undecided because of errors");
  verdict.doubt = Doubt::kExcludedCases;
  EXPECT_EQ(ClaimText(verdict), "undecided: errors exclude too many cases");
}

TEST(VerdictText, WhatBelongsBesideTheClaim) {
  StudentVerdict verdict;
  verdict.more_rounds = 1;
  EXPECT_EQ(VerdictText(verdict), "undecided, about 1 more round");
  verdict.more_rounds = 1200;
  EXPECT_EQ(VerdictText(verdict), "undecided, about 1,200 more rounds");
  verdict.more_show_no_effect = true;
  EXPECT_EQ(VerdictText(verdict), "undecided; about 1,200 more rounds for \"no effect\"");
  verdict.more_show_no_effect = false;
  verdict.more_rounds.reset();
  verdict.more_rounds_above = 80;
  EXPECT_EQ(VerdictText(verdict), "undecided, more than 80 more rounds");
  verdict.cases = 2;
  verdict.floor = {"a"};
  EXPECT_EQ(VerdictText(verdict), "undecided, more than 80 more rounds");
  verdict.floor = {"a", "b"};
  EXPECT_EQ(VerdictText(verdict), "undecided: no answer passed in either arm");
  verdict.word = Verdict::kNoEffect;
  verdict.cases = 12;
  verdict.tokens = PairedChange{100.0, 137.0, {}, {}};
  EXPECT_EQ(VerdictText(verdict), "no effect on these 12 cases, 37 % more tokens in all");
}

TEST(IsTooEasy, WhereMostCasesAlwaysPassAndLittleChanges) {
  StudentVerdict verdict;
  verdict.cases = 4;
  verdict.complete_rounds = 10;
  verdict.lift = 0.02;
  verdict.more_rounds = 27;
  verdict.ceiling = {"a"};
  EXPECT_FALSE(IsTooEasy(verdict));
  EXPECT_THAT(MoreRoundsText(verdict), HasSubstr("27"));
  verdict.ceiling = {"a", "b"};
  EXPECT_TRUE(IsTooEasy(verdict));
  EXPECT_EQ(MoreRoundsText(verdict), "") << "no purchase to advise";
  verdict.more_rounds = 2;
  EXPECT_FALSE(IsTooEasy(verdict)) << "soon decided";
  verdict.more_rounds = 27;
  verdict.lift = 0.5;
  EXPECT_FALSE(IsTooEasy(verdict));
}

TEST(ShownLift, IsTheEstimateWhereItDiffersElseTheDifferenceOfTheRatesShown) {
  StudentSummary student;
  for (const auto& [arm, passed] : {std::pair{Arm::kBaseline, 2}, std::pair{Arm::kSkill, 4}}) {
    student.arms[arm].answered = 60;
    student.arms[arm].passed = static_cast<std::size_t>(passed);
  }
  StudentVerdict verdict;
  verdict.lift = 2.0 / 60;
  EXPECT_EQ(PointsText(*ShownLift(student, verdict, Arm::kBaseline)), "+4") << "3 % → 7 %";
  EXPECT_EQ(PointsText(*ShownLift(student, verdict, Arm::kPrevious)), "+3") << "no rate beside it";
  verdict.lift_estimate = 0.0305;
  EXPECT_EQ(PointsText(*ShownLift(student, verdict, Arm::kBaseline)), "+4") << "no remark says why it would be another";
  verdict.lift_estimate = 0.02;
  EXPECT_EQ(PointsText(*ShownLift(student, verdict, Arm::kBaseline)), "+2");
}

TEST(VerdictRemarks, TheMeasuredLiftWhereAnotherIsShown) {
  ReportRun run;
  run.verdicts[0].lift_estimate = 0.45;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(StartsWith("the plain mean is +50 points; it is too high")));
  run.plan.rounds = run.verdicts[0].complete_rounds;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0),
              Contains(StartsWith("the plain mean is +50 points; the lift is corrected")))
      << "it didn't stop early";
  run.verdicts[0].lift = 0.504;
  run.verdicts[0].lift_estimate = 0.4985;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(StartsWith("the plain mean")))) << "both are +50";
  run.verdicts[0].lift_estimate = 0.4951;  // rounds to +50, too
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(StartsWith("the plain mean"))));
}

TEST(VerdictRemarks, AnswersOutsideTheCompleteRounds) {
  ReportRun run;
  const auto remark = StartsWith("the pass rates count all answers");
  run.verdicts[0].lift = 1.0;
  run.verdicts[0].cases = 2;
  run.verdicts[0].complete_rounds = 1;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(remark)) << "4 answers without the skill, 3 with it";
  run.verdicts[0].complete_rounds = 2;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(remark)));
}

TEST(VerdictRemarks, AVerdictBesideAnIntervalThatIncludesZero) {
  ReportRun run;
  StudentVerdict& verdict = run.verdicts[0];
  verdict.word = Verdict::kHelps;
  verdict.cases = 2;
  verdict.complete_rounds = 10;
  verdict.low = -0.07;
  verdict.high = 1.0;
  const auto remark = HasSubstr("2 cases in 10 rounds show that it helps, but not by how much");
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(remark));
  verdict.low = 0.07;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(remark)));
  verdict.low = -1.0;
  verdict.high = 0.1;
  verdict.word = Verdict::kHurts;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(HasSubstr("show that it hurts, but not by how much")));
}

TEST(VerdictRemarks, AWordThatLaterAnswersContradict) {
  ReportRun run;
  run.verdicts[0].word = Verdict::kUndecided;
  run.verdicts[0].doubt = Doubt::kLaterAnswers;
  run.verdicts[0].without_doubt = Verdict::kHelps;
  run.verdicts[0].reached_round = 3;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0),
              Contains("'helps' was decided after round 3, but the answers since point the other way"));
}

TEST(VerdictRemarks, AWordInGeneralThatIsWithheld) {
  ReportRun run;
  const auto remark = StartsWith("'helps' isn't claimed for new cases");
  run.verdicts[0].general_withheld = Verdict::kHelps;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(remark));
  run.verdicts[0].word = Verdict::kUndecided;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(remark))) << "it isn't claimed of these cases either";
}

TEST(SkippedText, NamesTheReasonOfEachModel) {
  ReportRun run;
  JudgedRun judged = run.judged();
  judged.summary.students[0].cells_skipped = 4;
  judged.verdicts[0].word = Verdict::kHelps;
  EXPECT_EQ(SkippedText(judged), "the verdict was already known");
  judged.verdicts[0].word = Verdict::kUndecided;
  judged.verdicts[0].futile = true;
  EXPECT_EQ(SkippedText(judged), "the rounds left were unlikely to decide");
  judged.verdicts[0].futile = false;
  EXPECT_EQ(SkippedText(judged), "the gate was already decided");
}

TEST(VerdictRemarks, AMeasuredLiftAfterAnEarlyEnd) {
  ReportRun run;
  run.plan.stop_when_decided = true;
  run.plan.verdict.min_lift = 0.1;
  run.verdicts[0].lift_estimate = run.verdicts[0].lift;
  run.verdicts[0].complete_rounds = 1;
  const auto remark = HasSubstr("the lift is the measured one: with --min-lift, it is too large on average");
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Contains(remark));
  run.verdicts[0].complete_rounds = run.plan.rounds;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(remark)));
}

TEST(VerdictRemarks, EqualInputsCountOnce) {
  ReportRun run;
  run.verdicts[0].cases = 14;
  run.verdicts[0].distinct_inputs = 5;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0),
              Contains("the 14 cases have 5 different inputs: each input counts once in lift and verdict"));
  run.verdicts[0].distinct_inputs = 14;
  EXPECT_THAT(VerdictRemarks(run.judged(), 0), Not(Contains(HasSubstr("different input"))));
}

TEST(ErrorsText, MostFrequentFirst) {
  EXPECT_EQ(ErrorsText({}), "");
  const std::map<ErrorCause, std::size_t> errors = {
      {ErrorCause::kRateLimit, 3}, {ErrorCause::kTimeout, 14}, {ErrorCause::kCrash, 2}, {ErrorCause::kUnknown, 1}};
  EXPECT_EQ(ErrorsText(errors), "14 timeouts, 3 rate limits, 2 engine crashes and 1 other error");
  EXPECT_EQ(ErrorsText(errors, true), "14 timeouts, 2 engine crashes and 1 other error");
}

TEST(AttemptsText, CountsRequests) {
  ArmSummary arm;
  arm.attempts = 50;
  EXPECT_EQ(AttemptsText(arm), "");
  arm.failed_attempts[ErrorCause::kTimeout] = 1;
  EXPECT_EQ(AttemptsText(arm), "1 of 50 requests, repeats included, failed: 1 timeout");
}

JudgedRun RunWith(const StudentVerdict& verdict) {
  ReportRun run;
  run.verdicts = {verdict};
  JudgedRun judged = run.judged();
  for (auto& [arm, summary] : judged.summary.students[0].arms) summary.failed_attempts.clear();
  return judged;
}

TEST(VerdictRemarks, LostAnswersByArm) {
  StudentVerdict verdict;
  verdict.lift = 0.4;
  verdict.doubt = Doubt::kErrors;
  verdict.without_doubt = Verdict::kHelps;
  JudgedRun run = RunWith(verdict);
  run.summary.students[0].arms[Arm::kSkill].failed_attempts = {{ErrorCause::kTimeout, 14}, {ErrorCause::kRateLimit, 2}};
  EXPECT_THAT(VerdictRemarks(run, 0),
              ElementsAre("14 timeouts with the skill; had they been failures, there would be no verdict"));
  run.summary.students[0].arms[Arm::kBaseline].failed_attempts = {{ErrorCause::kBroken, 1}};
  EXPECT_THAT(VerdictRemarks(run, 0),
              ElementsAre("14 timeouts with the skill, 1 broken response in the baseline; had the first been failures "
                          "and the others passes, there would be no verdict"));
  run.verdicts[0].without_doubt = Verdict::kNoEffect;
  EXPECT_THAT(VerdictRemarks(run, 0)[0], HasSubstr("had they been failures, or passes, there would be no verdict"));
  run.verdicts[0].without_doubt = Verdict::kHurts;
  run.summary.students[0].arms[Arm::kSkill].failed_attempts.clear();
  EXPECT_THAT(VerdictRemarks(run, 0)[0], StartsWith("1 broken response in the baseline; had they been failures"));
}

TEST(VerdictRemarks, ALaterLookNeedsMoreEvidence) {
  ReportRun report;
  report.verdicts = {StudentVerdict()};
  report.plan.share.look = 2;
  report.plan.share.versions = 2;
  EXPECT_THAT(VerdictRemarks(report.judged(), 0), Contains(HasSubstr("second look")));
  report.verdicts[0].word = Verdict::kHelps;
  EXPECT_THAT(VerdictRemarks(report.judged(), 0), Not(Contains(HasSubstr("second look"))));
}

TEST(VerdictRemarks, WhatErrorsCouldDoToTheLift) {
  StudentVerdict verdict;
  verdict.word = Verdict::kHelps;
  verdict.lift = 0.4;
  verdict.lost_low = 0.3;
  verdict.lost_high = 0.45;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              ElementsAre("lift between +30 and +45, depending on what the failed requests would have answered"));
}

TEST(VerdictRemarks, ManyTruncatedAnswers) {
  JudgedRun run = RunWith({});
  for (auto& [arm, summary] : run.summary.students[0].arms) {
    summary.answered = 6;
    summary.truncated = arm == Arm::kSkill ? 5 : 3;
  }
  EXPECT_THAT(VerdictRemarks(run, 0), Contains("8 of 12 answers were truncated: raise --max-tokens (" +
                                               std::to_string(run.plan().sampling.max_tokens) + ")"));
  for (auto& [arm, summary] : run.summary.students[0].arms) summary.truncated = 1;
  EXPECT_THAT(VerdictRemarks(run, 0), Not(Contains(HasSubstr("truncated"))));
}

TEST(VerdictRemarks, AnswersThatReachedATimeLimit) {
  JudgedRun run = RunWith({});
  EXPECT_THAT(VerdictRemarks(run, 0), Not(Contains(HasSubstr("time limit"))));
  run.summary.students[0].arms[Arm::kSkill].answered = 6;
  run.summary.students[0].arms[Arm::kSkill].time_limits = 1;
  EXPECT_THAT(VerdictRemarks(run, 0), Contains(HasSubstr("failed because a check reached its time limit")));
}

TEST(VerdictRemarks, AnOpenVerdictBesideAnIntervalWithoutZero) {
  StudentVerdict verdict;
  verdict.lift = 0.4;
  verdict.low = 0.1;
  verdict.high = 0.7;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              ElementsAre(StartsWith("undecided although the interval excludes 0")));
  verdict.low = -0.1;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0), IsEmpty());
}

TEST(VerdictRemarks, RepeatedAnswers) {
  StudentVerdict verdict;
  verdict.answers_repeat = true;
  verdict.complete_rounds = 2;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              ElementsAre("the answers are identical in both rounds: add cases, not rounds"));
  verdict.excluded = {"hard"};
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              Contains("the answers that count are identical in both complete rounds: add cases, not rounds"));
  verdict.excluded.clear();
  verdict.complete_rounds = 1;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              ElementsAre("at temperature 0, further rounds would repeat these answers: add cases, not rounds"));
}

TEST(VerdictRemarks, ExcludedCases) {
  StudentVerdict verdict;
  verdict.excluded = {"hard"};
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0),
              ElementsAre("1 case is excluded from lift and verdict because of errors: hard"));
  verdict.doubt = Doubt::kExcludedCases;
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0), ElementsAre("errors exclude 1 of 2 cases, more than 20 %: hard"));
  verdict.excluded = std::vector<std::string>(30, "x");
  EXPECT_THAT(VerdictRemarks(RunWith(verdict), 0)[0], HasSubstr("x, x and 18 more"));
}

TEST(ChangeText, InItsOwnUnit) {
  EXPECT_EQ(ChangeText({118.0, 121.5, {}, {}}, Unit::kTokens), "118 → 122: +4, +3 %");
  EXPECT_EQ(ChangeText({17.6, 30.4, {}, {}}, Unit::kTokens), "18 → 30: +12, +73 %") << "30 - 18 isn't 13";
  EXPECT_EQ(ChangeText({110.27, 110.25, {}, {}}, Unit::kTokens), "110 → 110: 0");
  EXPECT_EQ(ChangeText({4.55, 9.25, {}, {}}, Unit::kTokens), "4.6 → 9.3: +4.7, +103 %") << "halves as in the change";
  EXPECT_EQ(ChangeText({1.25, 1.5, {}, {}}, Unit::kSeconds), "1.25 s → 1.50 s: +0.25 s, +20 %");
  EXPECT_EQ(ChangeText({12.3, 13.9, {}, {}}, Unit::kSeconds), "12 s → 14 s: +2 s, +13 %");
  EXPECT_EQ(ChangeText({4.9151, 4.4549, {}, {}}, Unit::kSeconds), "4.92 s → 4.45 s: -0.47 s, -9 %");
  EXPECT_EQ(ChangeText({0.0004, 0.012, {}, {}}, Unit::kSeconds, " per answer"),
            "0.4 ms → 12 ms per answer: +12 ms, +2900 %");
  EXPECT_EQ(ChangeText({16.0, 16.0, {}, {}}, Unit::kTokens), "16 → 16");
  // Change and percentage agree, whatever is rounded away.
  EXPECT_EQ(ChangeText({1.0, 0.93, {}, {}}, Unit::kTokens), "1.0 → 0.9: -0.1, -7 %");
  EXPECT_EQ(ChangeText({4.0, 3.7, {}, {}}, Unit::kTokens), "4.0 → 3.7: -0.3, -8 %");
  EXPECT_EQ(ChangeText({0.02, 0.019, {}, {}}, Unit::kTokens), "0 → 0: 0");
  EXPECT_EQ(ChangeText({0.0, 0.002, {}, {}}, Unit::kMoney), "$0 → $0.0020: +$0.0020");
}

TEST(IsFree, InProcessOrAPriceOfZero) {
  StudentVerdict verdict;
  EXPECT_TRUE(IsFree({"smollm2-135m", "smollm2-135m", "llama:b1:ab"}, verdict));
  EXPECT_TRUE(IsFree({"sim:base=1", "sim", "sim:1:base=1"}, verdict));
  EXPECT_FALSE(IsFree({"sim:cost=1", "sim", "sim:1:cost=1"}, verdict));
  EXPECT_FALSE(IsFree({"haiku", "haiku", "anthropic.haiku at x"}, verdict));
  verdict.cost_usd = PairedChange{0.0, 0.0, {}, {}};
  EXPECT_TRUE(IsFree({"local", "local", "x at http://localhost"}, verdict));
  verdict.cost_usd->with = 0.1;
  EXPECT_FALSE(IsFree({"local", "local", "x at http://localhost"}, verdict));
}

}  // namespace
}  // namespace upskill
