// SPDX-License-Identifier: Apache-2.0
#include "report/eval_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/eval_json.h"
#include "report/test_run.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const Style kPlain{false, 100};

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

TEST(EvalHead, CountsTheCells) {
  TestRun run;
  EXPECT_EQ(EvalHead(run.plan, kPlain), "manifests · about 233 tokens · 2 cases × 2 rounds × 2 arms = 8 cells\n");
  run.plan.students.push_back({"b", "b", "b"});
  run.plan.rounds = 1;
  run.plan.arms = {Arm::kSkill};
  EXPECT_EQ(EvalHead(run.plan, kPlain), "manifests · about 233 tokens · 2 cases × 1 round × 1 arm × 2 models = 4 cells\n");
}

TEST(EvalBars, Golden) {
  EXPECT_EQ(EvalBars(TestRun().judged(), kPlain),
            "student\n"
            "  baseline    ██████████░░░░░░░░░░   50 %   2/4       1 truncated\n"
            "  with skill  ████████████████████  100 %   3/3       +50 points   1 error\n"
            "  tokens      16 → 12 per answer (-25 %) · prompt +200\n\n");
}

TEST(EvalBars, ShorterInANarrowPlace) {
  EXPECT_THAT(EvalBars(TestRun().judged(), {false, 60}), HasSubstr("  baseline    █████░░░░░   50 %   2/4"));
}

TEST(EvalBars, WithoutABaselineOrAnyAnswer) {
  TestRun run;
  run.plan.arms = {Arm::kSkill};
  EXPECT_EQ(EvalBars(run.judged(), kPlain),
            "student\n"
            "  with skill  ████████████████████  100 %   3/3       1 error\n"
            "  tokens      12 per answer\n\n");
  run.samples.clear();
  EXPECT_EQ(EvalBars(run.judged(), kPlain), "student\n  with skill  ░░░░░░░░░░░░░░░░░░░░      –   0/0       4 not done\n\n");
}

TEST(EvalBars, AShorterPromptWithTheSkill) {  // as when long cases of one arm are left undone
  TestRun run;
  for (Sample& sample : run.samples) sample.response.usage.input = sample.arm == Arm::kSkill ? 10 : 30;
  EXPECT_THAT(EvalBars(run.judged(), kPlain), HasSubstr("prompt -20\n"));
}

TEST(EvalBars, ALossIsTintedAsOne) {
  TestRun run;
  for (Sample& sample : run.samples) sample.arm = sample.arm == Arm::kSkill ? Arm::kBaseline : Arm::kSkill;
  EXPECT_THAT(EvalBars(run.judged(), {true, 100}), HasSubstr("\x1b[31m-50 points\x1b[0m"));
}

TEST(EvalTable, Golden) {
  TestRun run;
  run.plan.students.push_back({"b", "another", "b"});
  EXPECT_EQ(EvalTable(run.judged(), kPlain),
            "model    pass rate           lift  checks passed  tokens   cells\n"
            "student  50 % → 100 %  +50 points  0.5 → 1.0      16 → 12    7/8\n"
            "another  – → –                  –  – → –          – → –      0/8\n");
}

TEST(EvalCaseNotes, FloorAndCeiling) {
  TestRun run;
  EXPECT_EQ(EvalCaseNotes(run.judged()), "1 case always passed in every arm: easy\n");
  run.plan.arms = {Arm::kBaseline};
  EXPECT_EQ(EvalCaseNotes(run.judged()),
            "1 case never passed (-v shows why): hard\n1 case always passed in every arm: easy\n");
  run.samples.clear();
  EXPECT_THAT(EvalCaseNotes(run.judged()), IsEmpty());
}

TEST(EvalCases, Golden) {
  const TestRun run;
  EXPECT_EQ(EvalCases(run.plan, run.samples, kPlain),
            "student\n"
            "easy · What is 2 + 2?\n"
            "  baseline    2 of 2 passed\n"
            "  with skill  2 of 2 passed\n"
            "hard · Write the manifest.\n"
            "  baseline    0 of 2 passed\n"
            "      2× contains \"edition = 5\": missing \"edition = 5\"\n"
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
  const std::string shown = EvalCases(run.plan, run.samples, {false, 60});
  EXPECT_LT(shown.size(), 1500U);
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
  for (const std::string& text : {EvalHead(run.plan, kPlain), EvalBars(judged, kPlain), EvalTable(judged, kPlain),
                                  EvalCaseNotes(judged), EvalCases(run.plan, run.samples, kPlain)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
    EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  }
  EXPECT_THAT(EvalTable(judged, kPlain), HasSubstr("evil\\x1b[2J"));
  EXPECT_EQ(SplitLines(EvalTable(judged, kPlain)).size(), 2U);
}

TEST(EvalToJson, DocumentedKeys) {
  const TestRun run;
  const Json json = EvalToJson(run.judged());
  EXPECT_THAT(KeysOf(json), ElementsAre("run", "skill", "cases", "rounds", "students", "complete"));
  EXPECT_EQ(json.at("run"), run.plan.run);
  EXPECT_EQ(json.at("skill"), "manifests");
  EXPECT_EQ(json.at("cases"), 2);
  EXPECT_EQ(json.at("rounds"), 2);
  EXPECT_EQ(json.at("complete"), false);
  const Json& student = json.at("students").at(0);
  EXPECT_THAT(KeysOf(student), ElementsAre("model", "name", "verdict", "e_value", "lift", "lift_low", "lift_high", "baseline",
                                           "with_skill", "tokens", "cost_usd", "cells_saved", "cases"));
  EXPECT_EQ(student.at("model"), "sim:base=0.4");
  EXPECT_EQ(student.at("lift"), 0.5);
  for (const char* unknown : {"verdict", "e_value", "lift_low", "lift_high", "cost_usd"}) EXPECT_TRUE(student.at(unknown).is_null());
  EXPECT_EQ(student.at("cells_saved"), 0);
  EXPECT_THAT(KeysOf(student.at("baseline")), ElementsAre("passed", "total", "rate", "errors", "missing", "checks_passed",
                                                          "checks_total", "truncated", "refused"));
  EXPECT_EQ(student.at("baseline").at("passed"), 2);
  EXPECT_EQ(student.at("baseline").at("total"), 4);
  EXPECT_EQ(student.at("baseline").at("rate"), 0.5);
  EXPECT_EQ(student.at("baseline").at("truncated"), 1);
  EXPECT_EQ(student.at("with_skill").at("rate"), 1.0);
  EXPECT_EQ(student.at("with_skill").at("errors"), 1);
  EXPECT_EQ(student.at("with_skill").at("missing"), 1);
  EXPECT_EQ(student.at("tokens").at("baseline").at("output"), 64);
  EXPECT_EQ(student.at("tokens").at("with_skill").at("output_mean"), 12.0);
  EXPECT_EQ(student.at("cases").at(1),
            Json({{"id", "hard"}, {"baseline", {{"passed", 0}, {"total", 2}}}, {"with_skill", {{"passed", 1}, {"total", 1}}}}));
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
  EXPECT_TRUE(student.at("lift").is_null());
  EXPECT_TRUE(student.at("with_skill").at("rate").is_null());
  EXPECT_TRUE(student.at("tokens").at("with_skill").at("output_mean").is_null());
  EXPECT_EQ(student.at("with_skill").at("missing"), 4);
}

TEST(EvalToJson, ReusedCellsAreCounted) {
  TestRun run;
  run.samples[0].cached_from = "earlier";
  run.samples[1].cached_from = "earlier";
  EXPECT_EQ(EvalToJson(run.judged()).at("students").at(0).at("cells_saved"), 2);
}

}  // namespace
}  // namespace upskill
