// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/result_sentence.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/terminal/verdict_text.h"
#include "support/report_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Without the skill, 2 of 4 answers pass, with it 3 of 3.
std::string ResultWith(const StudentVerdict& verdict) {
  ReportRun run;
  run.verdicts = {verdict};
  return ResultText(run.judged());
}

StudentVerdict VerdictOf(Verdict word) {
  StudentVerdict verdict = ReportRun().verdicts.front();
  verdict.word = word;
  verdict.cases = 2;
  verdict.complete_rounds = 2;
  return verdict;
}

// Of the skill's answers to "hard", with a check that ran a command.
std::string ResultAfter(const std::string& answer, const std::string& detail, StopReason stop = StopReason::kEnd) {
  TestRun run;
  CheckSpec check;
  check.type = "command";
  check.options = {{"command", "python3 -c 'import ready'"}};
  run.plan.suite.cases[1].checks = {check};
  run.samples.back().error.reset();
  for (Sample& sample : run.samples) {
    if (sample.case_id != "hard" || sample.arm != Arm::kSkill) continue;
    sample.response.text = answer;
    sample.response.stop = stop;
    sample.checks = {{"command", Outcome::kFail, detail}};
  }
  return ResultText(run.judged());
}

TEST(ResultText, BeginsWithFailuresThatMayNotBeTheModels) {
  const std::string code = "Here:\n```python\nprint(1)\n```\n```python\nprint(2)\n```";
  for (const char* detail :
       {"exit code 1: ModuleNotFoundError: No module named 'ready'", "the answer has no file ready.py"}) {
    EXPECT_THAT(ResultAfter(code, detail),
                AllOf(StartsWith("Before you trust the result, look at 1 case (hard)"), HasSubstr("ready.py")));
    EXPECT_THAT(ResultAfter(code, detail, StopReason::kLength), HasSubstr("raise --max-tokens"));
    EXPECT_THAT(ResultAfter("I don't know.", detail), Not(HasSubstr("Before you trust"))) << "no code";
  }
  EXPECT_THAT(ResultAfter(code, "time limit of 60 s reached"),
              AllOf(StartsWith("Before you trust the result"), HasSubstr("timeout_seconds")));
  EXPECT_THAT(ResultAfter(code, "exit code 1: ModuleNotFoundError: No module named 'other'"),
              Not(HasSubstr("Before you trust")));
}

// A run that ended early because only a large loss was looked for.
TEST(ResultText, AGuardSaysWhetherMuchWasLost) {
  const auto stopping = [](const char* gate) {
    TestRun run = BrokenRun(gate);
    run.plan.stop_when_decided = true;
    return run;
  };
  EXPECT_THAT(ResultText(stopping("not-regressed").judged()),
              StartsWith("A large loss is shown, 100 % → 40 %: c|2 broke (p = "));
  EXPECT_THAT(ResultText(stopping("not-regressed; helps:* vs previous").judged()), Not(HasSubstr("large loss")));
  EXPECT_THAT(ResultText(BrokenRun("not-regressed").judged()), Not(HasSubstr("large loss"))) << "all rounds are done";
  TestRun equal = stopping("not-regressed; pass>1%");
  std::erase_if(equal.plan.suite.cases, [](const Case& one) { return one.id != "easy"; });
  EXPECT_THAT(ResultText(equal.judged()), StartsWith("No large loss is shown, 100 % → 80 %; "));
}

TEST(ResultText, ASkillThatHelpsIsToBeUsed) {
  StudentVerdict verdict = VerdictOf(Verdict::kHelps);
  const std::string here = ResultWith(verdict);
  EXPECT_THAT(here, AllOf(StartsWith("Use student with this skill on these 2 cases: 3 of 3 answers passed"),
                          HasSubstr("2 of 4")));
  EXPECT_THAT(here, HasSubstr("On new cases of this kind, that isn't shown"));
  verdict.general = Verdict::kHelps;
  verdict.new_cases_low = 0.23;
  verdict.new_cases_high = 0.8;
  EXPECT_THAT(ResultWith(verdict),
              AllOf(HasSubstr("on new cases"), HasSubstr("+23 … +80"), Not(HasSubstr("not for new"))));
}

TEST(ResultText, TellsWhatAnAnswerCosts) {
  ReportRun run;
  EXPECT_THAT(ResultText(run.judged()), HasSubstr("free"));
  for (Sample& sample : run.samples) sample.response.cost_usd = sample.arm == Arm::kSkill ? 0.002 : 0.001;
  run.verdicts[0].cost_usd = PairedChange{0.001, 0.002, {}, {}};
  EXPECT_THAT(ResultText(run.judged()), AllOf(HasSubstr("$0.0020 an answer"), HasSubstr("$0.0010 an answer")));
}

TEST(ResultText, NothingElseSaysToUseTheSkill) {
  EXPECT_THAT(ResultWith(VerdictOf(Verdict::kHurts)), StartsWith("Don't use this skill with student"));
  EXPECT_THAT(ResultWith(VerdictOf(Verdict::kNoEffect)),
              AllOf(StartsWith("student doesn't need this skill"), HasSubstr("costs 196 tokens an answer")));
  EXPECT_THAT(ResultWith(VerdictOf(Verdict::kUndecided)), StartsWith("Not decided"));
}

TEST(ResultText, ASkillWithoutEffectMaySaveTokens) {
  StudentVerdict verdict = VerdictOf(Verdict::kNoEffect);
  verdict.tokens = PairedChange{300.0, 200.0, {}, {}};
  EXPECT_THAT(ResultWith(verdict), AllOf(HasSubstr("saves 100 tokens an answer"), Not(HasSubstr("costs"))));
  verdict.cost_usd = PairedChange{0.003, 0.002, {}, {}};
  EXPECT_THAT(ResultWith(verdict), HasSubstr("saves 100 tokens ($0.0010) an answer"));
}

TEST(ResultText, UndecidedTellsHowManyRoundsWould) {
  StudentVerdict verdict = VerdictOf(Verdict::kUndecided);
  verdict.more_rounds = 6;
  EXPECT_THAT(ResultWith(verdict),
              AllOf(HasSubstr("about 6 more rounds (24 answers) like these could decide it"), HasSubstr("3 of 3")));
  verdict.more_show_no_effect = true;
  EXPECT_THAT(ResultWith(verdict), AllOf(HasSubstr("about 6 more rounds"), HasSubstr("no difference")));
  verdict.more_rounds.reset();
  verdict.more_rounds_above = 80;
  EXPECT_THAT(ResultWith(verdict), HasSubstr("80 more rounds"));
  ReportRun run;
  for (Sample& sample : run.samples) sample.response.cost_usd = 0.5;
  run.verdicts = {VerdictOf(Verdict::kUndecided)};
  run.verdicts[0].more_rounds = 1;
  run.samples.back().error.reset();
  EXPECT_THAT(ResultText(run.judged()), HasSubstr("1 more round (4 answers, $2.00)"));
}

TEST(ResultText, UndecidedTellsWhatIsMissing) {
  StudentVerdict verdict = VerdictOf(Verdict::kUndecided);
  verdict.more_rounds = 6;
  verdict.doubt = Doubt::kErrors;
  EXPECT_THAT(ResultWith(verdict),
              AllOf(HasSubstr("1 other error"), Not(HasSubstr("decide it")), Not(HasSubstr("luck"))));
  EXPECT_EQ(MoreRoundsText(verdict), "") << "of which some may be lost, too";
  verdict.doubt = Doubt::kExcludedCases;
  verdict.excluded = {"hard"};
  EXPECT_THAT(ResultWith(verdict), HasSubstr("errors exclude 1 of 2 cases"));
  verdict.doubt = Doubt::kLaterAnswers;
  EXPECT_THAT(ResultWith(verdict), HasSubstr("contradict"));
  verdict.doubt = Doubt::kNone;
  verdict.more_rounds.reset();
  verdict.answers_repeat = true;
  EXPECT_THAT(ResultWith(verdict), AllOf(HasSubstr("more cases"), HasSubstr("too few cases"), Not(HasSubstr("luck"))));
  verdict.floor = {"easy", "hard"};
  EXPECT_THAT(ResultWith(verdict), AllOf(HasSubstr("no answer passed"), HasSubstr("more capable model")));
  verdict.complete_rounds = 0;
  EXPECT_THAT(ResultWith(verdict), HasSubstr("no round is complete"));
}

TEST(ResultText, OtherTextThatDoesAsWell) {
  ReportRun run;
  JudgedRun judged = run.judged();
  judged.others[Arm::kPlacebo] = {VerdictOf(Verdict::kUndecided)};
  EXPECT_THAT(ResultText(judged),
              AllOf(StartsWith("Use student"), HasSubstr("hasn't been shown"), HasSubstr("unrelated text")));
  judged.others[Arm::kPlacebo] = {VerdictOf(Verdict::kHelps)};
  EXPECT_THAT(ResultText(judged), Not(HasSubstr("unrelated text")));
}

TEST(ResultText, AVersionThatHelpsButDoesWorseThanThePreviousOne) {
  ReportRun run;
  JudgedRun judged = run.judged();
  judged.others[Arm::kPrevious] = {VerdictOf(Verdict::kHurts)};
  judged.others[Arm::kPrevious][0].lift = -0.41;
  EXPECT_THAT(ResultText(judged), AllOf(StartsWith("Keep the previous version"), HasSubstr("41 points")));
}

TEST(ResultText, APreviousVersion) {
  ReportRun run;
  run.plan.arms = {Arm::kPrevious, Arm::kSkill};
  for (Sample& sample : run.samples) {
    if (sample.arm == Arm::kBaseline) sample.arm = Arm::kPrevious;
  }
  EXPECT_THAT(ResultText(run.judged()), AllOf(StartsWith("Use this version"), HasSubstr("previous version: 2 of 4")));
  run.verdicts[0].word = Verdict::kHurts;
  EXPECT_THAT(ResultText(run.judged()), StartsWith("Keep the previous version"));
}

TEST(ResultText, EveryRequestFailed) {
  ReportRun run;
  for (Sample& sample : run.samples) sample.error = Error{ErrorKind::kUnavailable, "401: the key in X was refused."};
  EXPECT_THAT(
      ResultText(run.judged()),
      AllOf(StartsWith("No result: every request failed (401: the key in X was refused)."), HasSubstr("continue")));
  run.plan.imported = ImportSource{};
  EXPECT_THAT(ResultText(run.judged()), Not(HasSubstr("continue"))) << "an imported run can't be resumed";
  run.samples.clear();
  EXPECT_THAT(ResultText(run.judged()), AllOf(StartsWith("No result yet"), Not(HasSubstr("failed"))));
}

TEST(ResultText, NothingToCompareWith) {
  ReportRun run;
  run.plan.arms = {Arm::kSkill};
  EXPECT_THAT(ResultText(run.judged()),
              AllOf(StartsWith("student passed 3 of 3 answers with the skill"), HasSubstr("nothing to compare")));
}

// Eight cases that the student fails without the skill and passes with it, in each of many rounds, at these prices of
// an answer; "best" costs ten times as much and always passes.
struct SeveralRun : TestRun {
  explicit SeveralRun(int rounds) {
    samples.clear();
    plan.rounds = rounds;
    plan.students.push_back({"best", "best", "best"});
    const Case pattern = plan.suite.cases[1];
    plan.suite.cases.clear();
    for (int i = 1; i <= 8; ++i) {
      plan.suite.cases.push_back(pattern);
      plan.suite.cases.back().id = "case-" + std::to_string(i);
      plan.suite.cases.back().input += " " + std::to_string(i);
      for (int round = 0; round < rounds; ++round) {
        AddBoth(plan.suite.cases.back().id, Arm::kBaseline, round, "edition = 2 ");
        AddBoth(plan.suite.cases.back().id, Arm::kSkill, round, "edition = 5 ");
      }
    }
  }

  void AddBoth(const std::string& id, Arm arm, int round, const std::string& answer) {
    Add(id, arm, round, answer + std::to_string(round));
    samples.back().response.cost_usd = 0.001;
    Add(id, arm, round, "edition = 5 " + std::to_string(round));
    samples.back().student = "best";
    samples.back().response.cost_usd = 0.01;
  }
};

TEST(ResultText, TheBestValueOfSeveralModels) {
  const std::string text = ResultText(SeveralRun(40).judged());
  EXPECT_THAT(text, StartsWith("Use student with this skill: 320 of 320 answers passed, $0.0010 an answer"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("without it: 0 of 320"), HasSubstr("every other choice passes at most 5 points more"),
                    HasSubstr("Highest without the skill: best, 100 %, $0.0100 an answer: 10 times as much")));
  EXPECT_THAT(text, Not(HasSubstr("Cheaper")));
}

TEST(ResultText, WithoutABestValueTheModelsThatTheSkillHelps) {
  const std::string text = ResultText(SeveralRun(2).judged());
  EXPECT_THAT(text, StartsWith("Use this skill: it helps student (0 % → 100 %, $0.0010 an answer)."));
  EXPECT_THAT(text, AnyOf(HasSubstr("for now: best ("), HasSubstr("no difference to best")));
  EXPECT_THAT(text, HasSubstr("Highest pass rate: student with the skill, 100 %"));
  EXPECT_THAT(text, HasSubstr(" (within 5 points): about "));
  EXPECT_THAT(text, Not(HasSubstr("Use student")));
}

TEST(ResultText, WithoutABestValueTheCheapestNearTheBestForNow) {
  SeveralRun run(2);
  const auto passes = [](const Sample& sample) { return sample.student != "best" && sample.arm == Arm::kSkill; };
  const auto found = std::find_if(run.samples.begin(), run.samples.end(), passes);
  ASSERT_NE(found, run.samples.end());
  found->response.text = "edition = 2";
  found->checks = {{"check", Outcome::kFail, ""}};
  EXPECT_THAT(ResultText(run.judged()),
              HasSubstr("For now, use student with the skill, $0.0010 an answer: 94 % passed, 6 points fewer so far."));
  for (Sample& sample : run.samples) {
    sample.response.cost_usd = 0.0;
    sample.response.usage = {sample.student == "best" ? 200 : 100, 0, 0, 0, 0};
  }
  EXPECT_THAT(ResultText(run.judged()),
              AllOf(HasSubstr("With 50 % fewer tokens: student with the skill, free"), Not(HasSubstr("For now, use"))))
      << "where both are free, the reason is named";
}

TEST(ResultText, AModelWhoseRequestsAllFailed) {
  SeveralRun run(2);
  for (Sample& sample : run.samples) {
    if (sample.student == "best") sample.error = Error{ErrorKind::kUnavailable, "down"};
  }
  EXPECT_THAT(ResultText(run.judged()), HasSubstr("No result for best: every request failed"));
}

TEST(ResultLines, FitAndAreEscaped) {
  ReportRun run;
  run.plan.students[0].name = kHostile;
  const std::string lines = ResultLines(run.judged(), {false, 60}).text();
  for (const std::string_view line : SplitLines(lines)) EXPECT_LE(DisplayColumns(line), 60U) << line;
  EXPECT_EQ(lines.find('\x1b'), std::string::npos);
  EXPECT_THAT(ResultSentences(run.judged()), SizeIs(1)) << "no empty ones";
}

}  // namespace
}  // namespace upskill
