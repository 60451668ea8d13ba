// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/runs_text.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/run_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Style kNarrowRuns{false, 100};

std::vector<RunRow> Rows() {
  TestRun first;
  TestRun second;
  second.plan.run = "2026_11_22_10_12_33-0001";
  second.samples.resize(4);
  std::vector<RunRow> rows = RowsOf(first.judged());
  for (RunRow& row : RowsOf(second.judged())) rows.push_back(row);
  return rows;
}

TEST(RowsOf, OneForEachStudent) {
  TestRun run;
  run.plan.students.push_back({"b", "another", "b"});
  const std::vector<RunRow> rows = RowsOf(run.judged());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].run, run.plan.run);
  EXPECT_EQ(rows[0].cells, 8U);
  EXPECT_EQ(rows[0].answered, 7U);
  EXPECT_EQ(rows[1].answered, 0U);
}

// One win in the first of two rounds: what isn't finished may have been stopped because of its answers.
TEST(RunBars, TheNewestOfEachSkillAndModel) {
  EXPECT_EQ(RunBars(Rows(), RunMetric::kSuccess, kNarrowRuns).text(),
            "manifests\n"
            "student   run 2026_11_22_10_12_33-0001 · 4 of 8 answered\n"
            "  baseline    ██████████░░░░░░░░░░   50 %   1/2\n"
            "  with skill  ████████████████████  100 %   2/2\n"
            "  lift        +50 points (likely -86 … +100)   undecided, about 8 more rounds\n");
  EXPECT_EQ(RunBars(Rows(), RunMetric::kTokens, {false, 60}).text(),
            "manifests\n"
            "student   run 2026_11_22_10_12_33-0001 · 4 of 8 answered\n"
            "  baseline    ██████████     16   tokens per answer\n"
            "  with skill  ████████░░     12   tokens per answer\n"
            "  lift        +50 points (likely -86 … +100)   undecided, about 8 more rounds\n");
}

TEST(RunBars, ARunWithoutALiftHidesNoVerdict) {
  std::vector<RunRow> rows = Rows();
  TestRun later;
  later.plan.run = "2026_11_23_10_12_33-0002";
  later.plan.arms = {Arm::kSkill};
  for (RunRow& row : RowsOf(later.judged())) rows.push_back(row);
  EXPECT_EQ(RunBars(rows, RunMetric::kSuccess, kNarrowRuns).text(),
            RunBars(Rows(), RunMetric::kSuccess, kNarrowRuns).text());
  EXPECT_THAT(RunBars({rows.back()}, RunMetric::kSuccess, kNarrowRuns).text(), HasSubstr("0002"));
}

TEST(RunBars, SkillsApart) {
  std::vector<RunRow> rows = Rows();
  rows[1].skill = "another";
  EXPECT_THAT(RunBars(rows, RunMetric::kSuccess, kNarrowRuns).text(),
              testing::ContainsRegex("^another\n.*\n\nmanifests\n"));
}

TEST(RunTable, NamesTheShard) {
  TestRun run;
  run.plan.shard = {1, 8};
  EXPECT_THAT(RunTable(RowsOf(run.judged()), {false, 120}).text(),
              HasSubstr("2026_11_21_10_12_33-abcd shard 2/8  manifests"));
}

TEST(RunTable, NamesTheStageOfATrial) {
  TestRun run;
  run.plan.trial = "train";
  EXPECT_THAT(RunTable(RowsOf(run.judged()), {false, 120}).text(), HasSubstr("trial: train"));
}

// Two models that were the default model at their time.
TEST(RunBars, ModelsOfOneModelStringApart) {
  std::vector<RunRow> rows = Rows();
  rows[0].student.student.name = "another";
  EXPECT_THAT(RunBars(rows, RunMetric::kSuccess, kNarrowRuns).text(),
              testing::ContainsRegex("another   run.*\n.*\n.*\n.*student   run"));
}

TEST(RunBars, WhatCostsNothingIsFree) {
  EXPECT_THAT(RunBars(Rows(), RunMetric::kCost, kNarrowRuns).text(), HasSubstr("     free   per answer\n"));
}

TEST(RunTable, Golden) {
  EXPECT_EQ(RunTable(Rows(), kNarrowRuns).text(),
            "run                       skill      model      baseline   with skill  lift  verdict    cells\n"
            "2026_11_21_10_12_33-abcd  manifests  student  50 % (2/4)  100 % (3/3)     0  undecided    7/8\n"
            "2026_11_22_10_12_33-0001  manifests  student  50 % (1/2)  100 % (2/2)   +50  undecided    4/8\n");
}

TEST(RunCsv, Golden) {
  EXPECT_EQ(
      RunCsv({Rows()[0]}),
      "run,created,skill,model,arm,cells,answered,errors,passed,pass_rate,checks_passed,checks_total,prompt_tokens,"
      "output_tokens,seconds,cost_usd,lift,lift_low,lift_high,verdict\r\n"
      "2026_11_21_10_12_33-abcd,2026-11-21T10:12:33Z,manifests,student,baseline,4,4,0,2,0.5,2,4,120,64,0,,0,-1,1,"
      "undecided\r\n"
      "2026_11_21_10_12_33-abcd,2026-11-21T10:12:33Z,manifests,student,skill,4,3,1,3,1,3,3,690,36,0,,0,-1,1,"
      "undecided\r\n");
}

TEST(RunCsv, QuotesAndGuardsAgainstFormulas) {
  RunRow row = Rows()[0];
  const auto skill_field = [&](const std::string& skill) {
    row.skill = skill;
    const std::string csv = RunCsv({row});
    const std::size_t start = csv.find("33Z,") + 4;
    return csv.substr(start, csv.find(",student,baseline") - start);
  };
  EXPECT_EQ(skill_field("plain name"), "plain name");
  EXPECT_EQ(skill_field("a,b"), "\"a,b\"");
  EXPECT_EQ(skill_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(skill_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(skill_field("two\r\nlines"), "\"two\r\nlines\"");
  for (const std::string formula : {"=1+1", "+1", "-1", "@x", "\tx"}) EXPECT_EQ(skill_field(formula), "'" + formula);
  EXPECT_EQ(skill_field("\rx"), "\\x0dx");
  EXPECT_EQ(skill_field("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
  EXPECT_EQ(skill_field(""), "");
}

TEST(RunsText, UnknownTokensAreNotZero) {
  TestRun run;
  run.ForgetTokens();
  const std::vector<RunRow> rows = RowsOf(run.judged());
  EXPECT_THAT(RunCsv(rows), HasSubstr(",baseline,4,4,0,2,0.5,2,4,,,"));
  EXPECT_THAT(RunBars(rows, RunMetric::kTokens, kNarrowRuns).text(), HasSubstr("unknown   tokens per answer\n"));
}

TEST(RunCsv, UnknownValuesAreEmpty) {
  TestRun run;
  run.samples.clear();
  EXPECT_THAT(RunCsv(RowsOf(run.judged())), HasSubstr(",baseline,4,0,0,0,,0,0,0,0,0,,,,,\r\n"));
  EXPECT_EQ(SplitLines(RunCsv({})).size(), 1U);
}

TEST(RunsText, HostileStringsNeverReachATerminal) {
  std::vector<RunRow> rows = Rows();
  for (RunRow& row : rows) {
    row.run = kHostile;
    row.created = kHostile;
    row.skill = kHostile;
    row.student.student.name = kHostile;
  }
  for (const std::string& text :
       {RunBars(rows, RunMetric::kSuccess, kNarrowRuns).text(), RunTable(rows, kNarrowRuns).text()}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  }
}

}  // namespace
}  // namespace upskill
