// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/eval_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/export/eval_json.h"
#include "report/terminal/figures.h"
#include "support/report_fixture.h"
#include "support/run_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Style kNarrow{false, 100};

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

TEST(EvalHead, CountsTheCells) {
  TestRun run;
  EXPECT_EQ(EvalHead(run.plan, kNarrow).text(),
            "manifests · skill about 234 tokens · 2 cases × 2 rounds × 2 arms = 8 cells\n");
  run.plan.students.push_back({"b", "b", "b"});
  run.plan.rounds = 1;
  run.plan.arms = {Arm::kSkill};
  EXPECT_EQ(EvalHead(run.plan, kNarrow).text(),
            "manifests · skill about 234 tokens · 2 cases × 1 round × 1 arm × 2 models = 4 cells\n");
}

// Eight cases, two rounds, answers that vary: a baseline that never passes, a skill that always does.
TestRun ClearRun() {
  TestRun run;
  run.samples.clear();
  const Case pattern = run.plan.suite.cases[1];
  run.plan.suite.cases.clear();
  for (int i = 1; i <= 8; ++i) {
    run.plan.suite.cases.push_back(pattern);
    run.plan.suite.cases.back().id = "case-" + std::to_string(i);
    run.plan.suite.cases.back().input += " " + std::to_string(i);
    for (int round = 0; round < 2; ++round) {
      const std::string salt = " " + std::to_string(round);
      run.Add(run.plan.suite.cases.back().id, Arm::kBaseline, round, "edition = 2" + salt);
      run.Add(run.plan.suite.cases.back().id, Arm::kSkill, round, "edition = 5" + salt);
    }
  }
  return run;
}

// Twenty rounds were planned, and the verdict was known after two.
TestRun StoppedRun() {
  TestRun run = ClearRun();
  run.plan.rounds = 20;
  run.plan.stop_when_decided = true;
  return run;
}

TEST(RoundsText, OfARunThatStoppedAreThoseItNeeded) {
  TestRun run = StoppedRun();
  EXPECT_EQ(RoundsText(run.judged()), "2 rounds of 20 planned");
  EXPECT_EQ(EvalHead(run.judged(), kNarrow).text(),
            "manifests · skill about 234 tokens · 8 cases × 2 rounds of 20 planned × 2 arms = 32 cells\n");
  const Json json = EvalToJson(run.judged());
  EXPECT_EQ(json.at("rounds"), 20);
  EXPECT_EQ(json.at("judged_rounds"), 2);
  // Another student hasn't been decided.
  run.plan.students.push_back({"b", "b", "b"});
  EXPECT_EQ(RoundsText(run.judged()), "2 to 20 rounds of 20 planned");
  EXPECT_EQ(EvalToJson(run.judged()).at("judged_rounds"), 20);
}

// Rounds that are still to be asked are missing, not unnecessary.
TEST(RoundsText, OfARunThatWasInterruptedAreThosePlanned) {
  TestRun run = StoppedRun();
  run.plan.stop_when_decided = false;
  EXPECT_EQ(RoundsText(run.judged()), "20 rounds");
  EXPECT_EQ(EvalHead(run.judged(), kNarrow).text(), EvalHead(run.plan, kNarrow).text());
}

// The case with an error counts for nothing, which leaves one that passes everywhere: pass rates are of all answers.
TEST(EvalBars, Golden) {
  TestRun run;
  run.plan.sampling.temperature = 0.0;
  EXPECT_EQ(EvalBars(run.judged(), kNarrow).text(),
            "student\n"
            "  baseline    ██████████░░░░░░░░░░   50 %   2/4   1 truncated\n"
            "  with skill  ████████████████████  100 %   3/3   1 error\n"
            "  lift        0 points (likely -98 … +98)   undecided: errors exclude too many cases\n"
            "  output      16 → 12 tokens per answer: -4, -25 % · prompt +200 for the skill\n"
            "  cost        free\n"
            "  errors      with skill: 1 of 4 requests, repeats included, failed: 1 other error\n"
            "  lift between 0 and +50, depending on what the failed requests would have answered\n"
            "  the answers that count are identical in both complete rounds: add cases, not rounds\n"
            "  errors exclude 1 of 2 cases, more than 20 %: hard\n\n");
}

TEST(EvalBars, AVerdict) {
  const std::string bars = EvalBars(ClearRun().judged(), kNarrow).text();
  EXPECT_THAT(bars, HasSubstr("  baseline    ░░░░░░░░░░░░░░░░░░░░    0 %   0/16\n"
                              "  with skill  ████████████████████  100 %   16/16\n"
                              "  lift        +100 points   helps, also on new cases of this kind (likely "));
  EXPECT_THAT(bars, HasSubstr(" … +100)\n"));
  EXPECT_THAT(bars, HasSubstr("  these cases likely "));
  EXPECT_THAT(bars, Not(HasSubstr(" \n")));
}

TEST(EvalBars, APromptThatGrewSinceThePreviousVersion) {
  EXPECT_THAT(EvalBars(BrokenRun("").judged(), {false, 200}).text(),
              HasSubstr(" · prompt +200 against the previous version\n"));
}

TEST(EvalBars, NarrowPlacesPutTheLiftBelow) {
  const std::string bars = EvalBars(ClearRun().judged(), {false, 60}).text();
  EXPECT_THAT(bars, HasSubstr("  with skill  ██████████  100 %   16/16\n  lift        +100 points\n"));
  for (const std::string_view line : SplitLines(bars)) EXPECT_LE(DisplayColumns(line), 66U) << line;
}

TEST(EvalBars, CostAndOtherArms) {
  TestRun run = ClearRun();
  run.plan.arms = {Arm::kBaseline, Arm::kSkill, Arm::kPlacebo};
  for (int i = 1; i <= 8; ++i) {
    for (int round = 0; round < 2; ++round)
      run.Add("case-" + std::to_string(i), Arm::kPlacebo, round, "edition = 2 " + std::to_string(round));
  }
  for (Sample& sample : run.samples) sample.response.cost_usd = sample.arm == Arm::kSkill ? 0.002 : 0.001;
  const std::string bars = EvalBars(run.judged(), kNarrow).text();
  EXPECT_THAT(bars, HasSubstr("  placebo     ░░░░░░░░░░░░░░░░░░░░    0 %   0/16\n"));
  EXPECT_THAT(bars, HasSubstr("  vs placebo  +100 points   helps, "));
  EXPECT_THAT(bars,
              HasSubstr("  cost        $0.0010 → $0.0020 per answer: +$0.0010, +100 %\n"
                        "              – → $0.0020 per passed answer\n"));  // none passed without
}

TEST(EvalBars, WaitingForAPersonIsNoTimeOfTheModel) {
  TestRun run = ClearRun();
  for (Sample& sample : run.samples) sample.response.seconds = 1.5;
  EXPECT_THAT(EvalBars(run.judged(), kNarrow).text(), HasSubstr("\n  time   "));
  run.plan.students[0].spec = "desk:desk";
  for (Sample& sample : run.samples) sample.student = "desk:desk";
  const std::string bars = EvalBars(run.judged(), kNarrow).text();
  EXPECT_THAT(bars, HasSubstr("\n  waited "));
  EXPECT_THAT(bars, Not(HasSubstr("\n  time ")));
}

TEST(EvalBars, RepeatingAnswersOfASingleRound) {
  TestRun run;
  run.plan.rounds = 1;
  run.plan.sampling.temperature = 0.0;
  EXPECT_THAT(EvalBars(run.judged(), kNarrow).text(),
              HasSubstr("  at temperature 0, further rounds would repeat these answers: add cases"));
}

TEST(EvalBars, ShorterInANarrowPlace) {
  EXPECT_THAT(EvalBars(TestRun().judged(), {false, 60}).text(), HasSubstr("  baseline    █████░░░░░   50 %   2/4"));
}

TEST(EvalBars, WithoutABaselineOrAnyAnswer) {
  TestRun run;
  run.plan.arms = {Arm::kSkill};
  EXPECT_EQ(EvalBars(run.judged(), kNarrow).text(),
            "student\n"
            "  with skill  ████████████████████  100 %   3/3   1 error\n"
            "  output      12 per answer\n"
            "  cost        free\n"
            "  errors      with skill: 1 of 4 requests, repeats included, failed: 1 other error\n\n");
  run.samples.clear();
  EXPECT_EQ(EvalBars(run.judged(), kNarrow).text(),
            "student\n  with skill  ░░░░░░░░░░░░░░░░░░░░      –   0/0   4 unanswered\n\n");
}

TEST(EvalBars, AShorterPromptWithTheSkill) {  // as when long cases of one arm are left undone
  TestRun run;
  for (Sample& sample : run.samples) sample.response.usage.input = sample.arm == Arm::kSkill ? 10 : 30;
  EXPECT_THAT(EvalBars(run.judged(), kNarrow).text(), HasSubstr("prompt -20\n"));
}

TEST(EvalBars, ALossIsTintedAsOne) {
  TestRun run = ClearRun();
  for (Sample& sample : run.samples) sample.arm = sample.arm == Arm::kSkill ? Arm::kBaseline : Arm::kSkill;
  const std::string bars = EvalBars(run.judged(), {true, 100}).text();
  EXPECT_THAT(bars, HasSubstr("-100 points"));
  EXPECT_THAT(bars, HasSubstr("\x1b[31mhurts, also on new cases of this kind (likely "));
}

TEST(EvalTable, Golden) {
  TestRun run;
  run.plan.students.push_back({"b", "another", "b"});
  EXPECT_EQ(EvalTable(run.judged(), kNarrow).text(),
            "model    pass rate     lift (likely)    checks passed  tokens   verdict\n"
            "student  50 % → 100 %  0 (-100 … +100)  0.5 → 1.0      16 → 12  undecided (errors)\n"
            "another  – → –         –                – → –          – → –    –\n");
}

TEST(EvalTable, CostOfAPassedAnswerWhereKnown) {
  TestRun run;
  run.samples.back().error.reset();
  run.plan.students.push_back({"b", "another", "b"});
  for (Sample& sample : run.samples) sample.response.cost_usd = 0.001;
  const std::string table = EvalTable(run.judged(), {false, 120}).text();
  EXPECT_THAT(table, HasSubstr("  $ / pass           verdict\n"));
  EXPECT_THAT(table, HasSubstr("  $0.0020 → $0.0010  undecided, about "));  // two answers for one that passed, then one
  EXPECT_THAT(table, HasSubstr("another  "));
}

TEST(EvalTableNotes, WhatTheTableDoesNotShow) {
  TestRun run;
  run.plan.sampling.temperature = 0.0;
  run.plan.students.push_back({"b", "another", "b"});
  EXPECT_EQ(EvalTableNotes(run.judged(), kNarrow).text(),
            "student: output 16 → 12 tokens per answer: -4, -25 % · prompt +200 for the skill\n"
            "student: cost free\n"
            "student, baseline: 1 truncated\n"
            "student, with skill: 1 error\n"
            "student, with skill: 1 of 4 requests, repeats included, failed: 1 other error\n"
            "student: lift between 0 and +50, depending on what the failed requests would have answered\n"
            "student: the answers that count are identical in both complete rounds: add cases, not rounds\n"
            "student: errors exclude 1 of 2 cases, more than 20 %: hard\n"
            "another, baseline: 4 unanswered\n"
            "another, with skill: 4 unanswered\n"
            "best value: not shown: student with the skill has the highest pass rate, but another choice may be\n"
            "  better by more than 5 points\n");
}

TEST(EvalTableNotes, OtherComparisons) {
  TestRun run = ClearRun();
  run.plan.arms = {Arm::kBaseline, Arm::kSkill, Arm::kPlacebo};
  for (int i = 1; i <= 8; ++i) {
    for (int round = 0; round < 2; ++round)
      run.Add("case-" + std::to_string(i), Arm::kPlacebo, round, "edition = 2 " + std::to_string(round));
  }
  run.plan.students.push_back({"b", "another", "b"});
  EXPECT_THAT(EvalTableNotes(run.judged(), kNarrow).text(), HasSubstr("student: vs placebo: +100 points   helps, "));
}

TEST(EvalCases, FailedChecksAreInTheOrderOfTheSuite) {
  TestRun run;
  run.samples[2].checks = {{"z first", Outcome::kFail, "no"}, {"a second", Outcome::kFail, "no"}};
  EXPECT_THAT(EvalCases(run.judged().data, kNarrow).text(), HasSubstr("1× z first: no\n      1× a second: no\n"));
}

TEST(EvalCaseNotes, FloorAndCeiling) {
  TestRun run;
  EXPECT_EQ(EvalCaseNotes(run.judged()).text(), "1 case always passed, with and without the skill: easy\n");
  run.plan.arms = {Arm::kBaseline};
  EXPECT_EQ(EvalCaseNotes(run.judged()).text(), "1 case never passed: hard\n1 case always passed: easy\n");
  EXPECT_THAT(EvalCaseNotes(run.judged(), "upskill eval x --resume 4f2a -v").text(),
              HasSubstr("1 case never passed: hard\n  show their answers: upskill eval x --resume 4f2a -v\n1 case"));
  run.samples.clear();
  EXPECT_THAT(EvalCaseNotes(run.judged()).text(), IsEmpty());
}

TEST(EvalCaseNotes, OfManyCasesShowOnlyTheFirst) {
  TestRun run;
  const Case easy = run.plan.suite.cases.front();
  const std::vector<Sample> samples = run.samples;
  for (int i = 0; i < 60; ++i) {
    Case& copy = run.plan.suite.cases.emplace_back(easy);
    copy.id = "copy-" + std::to_string(i);
    for (const Sample& sample : samples) {
      if (sample.case_id != easy.id) continue;
      run.samples.push_back(sample);
      run.samples.back().case_id = copy.id;
    }
  }
  const std::string notes = EvalCaseNotes(run.judged()).text();
  EXPECT_THAT(notes, HasSubstr("61 cases always passed, with and without the skill: easy, copy-0, "));
  EXPECT_THAT(notes, HasSubstr(", copy-3 and 56 more\n"));
}

TEST(EvalCases, Golden) {
  const TestRun run;
  EXPECT_EQ(EvalCases(run.judged().data, kNarrow).text(),
            "student\n"
            "easy · What is 2 + 2?\n"
            "  baseline    2 of 2 passed\n"
            "  with skill  2 of 2 passed\n"
            "hard · Write the manifest.\n"
            "  baseline    0 of 2 passed\n"
            "      2× contains \"edition = 5\": not found\n"
            "      │ edition = 2\n"
            "  with skill  1 of 1 passed\n"
            "      1× error: overloaded\n"
            "\n");
}

TEST(EvalCases, LongAnswersAreCut) {
  TestRun run;
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::string(200, 'a') + "\n";
  run.samples[2].response.text = text;
  const std::string shown = EvalCases(run.judged().data, {false, 60}).text();
  EXPECT_LT(shown.size(), 1500U);
  EXPECT_THAT(EvalCases(run.judged().data, {false, 60}, "upskill report 4f2a").text(),
              HasSubstr("whole answers: upskill report 4f2a\n"));
  for (const std::string_view line : SplitLines(shown)) EXPECT_LE(DisplayColumns(line), 60U) << line;
}

TEST(EvalText, HostileStringsNeverReachATerminal) {
  TestRun run;
  run.plan.skill.name = kHostile;
  run.plan.students[0].name = kHostile;
  run.plan.suite.cases[1].id = kHostile;
  run.plan.suite.cases[1].input = kHostile;
  for (Sample& sample : run.samples) {
    if (sample.case_id == "hard") sample.case_id = kHostile;
    sample.response.text += kHostile;
    sample.checks.push_back({kHostile, Outcome::kFail, kHostile});
    if (sample.error) sample.error->message = kHostile;
  }
  const JudgedRun judged = run.judged();
  for (const std::string& text :
       {EvalHead(run.plan, kNarrow).text(), EvalBars(judged, kNarrow).text(), EvalTable(judged, kNarrow).text(),
        EvalCaseNotes(judged).text(), EvalCases(run.judged().data, kNarrow).text()}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
    EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  }
  EXPECT_THAT(EvalTable(judged, kNarrow).text(), HasSubstr("evil\\x1b[2J"));
  EXPECT_EQ(SplitLines(EvalTable(judged, kNarrow).text()).size(), 2U);
}

TEST(EvalToJson, NoForecastWhereNothingPassed) {
  ReportRun run;
  StudentVerdict& verdict = run.verdicts[0];
  verdict.word = Verdict::kUndecided;
  verdict.more_rounds = 15;
  EXPECT_EQ(EvalToJson(run.judged()).at("students").at(0).at("more_rounds"), 15);
  verdict.cases = 2;
  verdict.floor = {"easy", "hard"};
  EXPECT_TRUE(EvalToJson(run.judged()).at("students").at(0).at("more_rounds").is_null());
}

TEST(EvalToJson, DocumentedKeys) {
  TestRun run;
  run.plan.sampling.temperature = 0.0;
  const Json json = EvalToJson(run.judged());
  EXPECT_THAT(KeysOf(json), ElementsAre("run", "rechecked_from", "left_out", "judge", "result", "skill", "cases",
                                        "rounds", "judged_rounds", "alpha", "students", "complete"));
  EXPECT_EQ(json.at("run"), run.plan.run);
  EXPECT_EQ(json.at("skill"), "manifests");
  EXPECT_EQ(json.at("cases"), 2);
  EXPECT_EQ(json.at("rounds"), 2);
  EXPECT_EQ(json.at("complete"), false);
  const Json& student = json.at("students").at(0);
  EXPECT_THAT(
      KeysOf(student),
      ElementsAre("model", "name", "verdict", "general", "p_value", "p_value_hurts", "p_general", "p_general_hurts",
                  "e_value", "e_value_hurts", "p_anytime", "p_anytime_hurts", "lift", "lift_low", "lift_high",
                  "lift_interval", "lift_estimate", "lift_new_cases", "lift_sequence", "complete_rounds", "more_rounds",
                  "more_rounds_above", "settled_by", "distinct_inputs", "answers_repeat", "excluded_cases",
                  "undecided_because", "verdict_without_errors", "lift_with_errors", "combined_e_value",
                  "combined_e_value_hurts", "compared_with", "baseline", "with_skill", "tokens", "seconds", "cost_usd",
                  "cells_skipped", "cells_from_cache", "ceiling_cases", "floor_cases", "cases", "fixed_cases",
                  "broken_cases", "tags", "checks", "pass_at_k", "drift", "train_cases"));
  EXPECT_EQ(student.at("model"), "sim:base=0.4");
  EXPECT_EQ(student.at("verdict"), "undecided");
  EXPECT_EQ(student.at("e_value"), 1.0);  // ties are evidence for nothing
  EXPECT_EQ(student.at("p_value"), 1.0);
  EXPECT_EQ(student.at("p_anytime"), 1.0);
  EXPECT_EQ(student.at("general"), "undecided");
  EXPECT_EQ(student.at("settled_by"), "repeats");
  EXPECT_EQ(student.at("distinct_inputs"), 1);
  EXPECT_EQ(student.at("lift_interval"), "fixed");
  EXPECT_EQ(student.at("lift"), 0.0);                               // of the case that was answered in every round
  EXPECT_NEAR(student.at("lift_low").get<double>(), -0.975, 1e-4);  // one case in one round: its answers repeat
  EXPECT_NEAR(student.at("lift_high").get<double>(), 0.975, 1e-4);
  EXPECT_TRUE(student.at("answers_repeat").get<bool>());
  EXPECT_EQ(student.at("excluded_cases"), Json({"hard"}));
  EXPECT_EQ(student.at("ceiling_cases"), Json({"easy"}));
  EXPECT_EQ(student.at("compared_with"), "baseline");
  EXPECT_EQ(student.at("undecided_because"), "excluded_cases");
  EXPECT_EQ(student.at("with_skill").at("attempts"), 4);
  EXPECT_EQ(student.at("with_skill").at("errors_by_kind"), Json({{"unknown", 1}}));
  for (const char* unknown : {"lift_new_cases", "lift_estimate", "more_rounds", "more_rounds_above", "cost_usd"})
    EXPECT_TRUE(student.at(unknown).is_null()) << unknown;
  EXPECT_EQ(student.at("cells_skipped"), 0);
  EXPECT_THAT(KeysOf(student.at("baseline")),
              ElementsAre("passed", "total", "rate", "errors", "attempts", "errors_by_kind", "unanswered",
                          "checks_passed", "checks_total", "time_limits", "truncated", "cut", "refusals", "empty"));
  EXPECT_EQ(student.at("baseline").at("passed"), 2);
  EXPECT_EQ(student.at("baseline").at("total"), 4);
  EXPECT_EQ(student.at("baseline").at("rate"), 0.5);
  EXPECT_EQ(student.at("baseline").at("truncated"), 1);
  EXPECT_EQ(student.at("with_skill").at("rate"), 1.0);
  EXPECT_EQ(student.at("with_skill").at("errors"), 1);
  EXPECT_EQ(student.at("with_skill").at("unanswered"), 1);
  EXPECT_EQ(student.at("tokens").at("baseline").at("output"), 64);
  EXPECT_EQ(student.at("tokens").at("with_skill").at("output_mean"), 12.0);
  EXPECT_EQ(student.at("cases").at(1), Json({{"id", "hard"},
                                             {"baseline", {{"passed", 0}, {"total", 2}}},
                                             {"with_skill", {{"passed", 1}, {"total", 1}}}}));
}

TEST(EvalToJson, WhatIsUnknownIsNull) {
  TestRun run;
  run.plan.run = "";
  run.plan.arms = {Arm::kSkill};
  run.samples.clear();
  const Json json = EvalToJson(run.judged());
  EXPECT_TRUE(json.at("run").is_null());
  const Json& student = json.at("students").at(0);
  EXPECT_TRUE(student.at("baseline").is_null());
  EXPECT_TRUE(student.at("tokens").at("baseline").is_null());
  for (const char* key : {"verdict", "e_value", "e_value_hurts", "lift", "lift_low", "lift_high"})
    EXPECT_TRUE(student.at(key).is_null()) << key;
  EXPECT_TRUE(student.at("with_skill").at("rate").is_null());
  EXPECT_TRUE(student.at("tokens").at("with_skill").at("output_mean").is_null());
  EXPECT_EQ(student.at("with_skill").at("unanswered"), 4);
}

TEST(EvalToJson, ReusedCellsAreCounted) {
  TestRun run;
  run.samples[0].cached_from = "earlier";
  run.samples[1].cached_from = "earlier";
  const Json student = EvalToJson(run.judged()).at("students").at(0);
  EXPECT_EQ(student.at("cells_from_cache"), 2);
  EXPECT_EQ(student.at("cells_skipped"), 0);  // those that a known verdict made needless
}

}  // namespace
}  // namespace upskill
