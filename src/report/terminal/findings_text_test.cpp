// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/findings_text.h"

#include <gmock/gmock.h>

#include "report/export/eval_json.h"
#include "report/terminal/eval_text.h"
#include "support/run_fixture.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct FindingsRun : TestRun {
  FindingsRun() { samples.back().error.reset(); }

  std::string notes() const {
    std::string all;
    for (const TerminalText& note : FindingNotes(judged(), 0)) all += note.text() + "\n";
    return all;
  }
};

TEST(FindingNotes, ASingleAnswerTurnsNoCase) {
  FindingsRun run;
  run.plan.rounds = 1;
  EXPECT_THAT(run.notes(), HasSubstr("one answer each"));
  EXPECT_THAT(run.notes(), Not(HasSubstr("broken")));
}

TEST(FindingNotes, CasesThatTurnedWithoutAVerdict) {
  const FindingsRun run;
  EXPECT_EQ(run.notes(), "1 case mostly passed with the skill and mostly failed without it, 0 the other way round\n");
  EXPECT_THAT(FindingDetails(run.judged()).text(), HasSubstr("better      hard\n"));
}

TEST(FindingNotes, CasesUsedToWriteTheSkill) {
  FindingsRun run;
  run.plan.suite.cases[0].split = Split::kTrain;
  run.plan.suite.source = "skills/manifests/skill_meta.json";
  EXPECT_THAT(run.notes(), HasSubstr("1 of 2 cases was used to write this skill; lift on the other 1: +100 points"));
  run.plan.suite.source = "other/tests.json";
  EXPECT_THAT(run.notes(), HasSubstr("used to write a skill;"));
  run.plan.suite.cases[1].split = Split::kTrain;
  EXPECT_THAT(run.notes(), HasSubstr("all 2 cases were used to write a skill: the lift on other cases may be lower"));
}

TEST(FindingNotes, EmptyAnswersAreNamed) {
  FindingsRun run;
  EXPECT_THAT(run.notes(), Not(HasSubstr("empty")));
  for (Sample& sample : run.samples) {
    sample.response.text = " \n";
    sample.response.stop = StopReason::kEnd;
  }
  EXPECT_THAT(run.notes(), HasSubstr(" answers were empty: the server or its settings may be at fault\n"));
  EXPECT_EQ(EvalToJson(run.judged()).at("students").at(0).at("with_skill").at("empty"),
            EvalToJson(run.judged()).at("students").at(0).at("with_skill").at("total"));
  run.plan.imported = ImportSource{};
  EXPECT_THAT(run.notes(), Not(HasSubstr("empty"))) << "the file may hold no texts";
  run.plan.imported.reset();
  run.samples[0].response.stop = StopReason::kLength;
  EXPECT_THAT(run.notes(), HasSubstr(" answers were empty: reasoning may have used up --max-tokens\n"));
}

TEST(FindingNotes, DriftIsACaveat) {
  JudgedRun run = FindingsRun().judged();
  run.findings[0].drift = Drift{{}, 0.0031};
  EXPECT_EQ(FindingNotes(run, 0).back().text(),
            "pass rates changed over the rounds (p = 0.0031): the model behind student may have changed");
  run.findings[0].drift->p = 0.02;
  EXPECT_EQ(FindingNotes(run, 0).size(), 1U);
}

TEST(TagLines, AreFew) {
  FindingsRun run;
  EXPECT_THAT(TagLines(run.judged(), 0).text(), IsEmpty());
  run.plan.suite.cases[0].tags = {"arithmetic"};
  for (int i = 0; i < 30; ++i) run.plan.suite.cases[1].tags.push_back("tag " + std::to_string(i));
  const std::string lines = TagLines(run.judged(), 0).text();
  EXPECT_THAT(lines, HasSubstr("  tag         arithmetic · 1 case · 0 points"));
  EXPECT_THAT(lines, HasSubstr("  tags        23 more (-v shows all)\n"));
  EXPECT_THAT(lines, Not(HasSubstr("tag 8")));
  EXPECT_THAT(FindingDetails(run.judged()).text(), HasSubstr("tag 29 · 1 case · +100 points"));
  EXPECT_THAT(EvalBars(run.judged(), {}).text(), HasSubstr("arithmetic"));
}

TEST(TagLines, TellExecutedChecksFromOthers) {
  FindingsRun run;
  CheckSpec command;
  command.type = "command";
  CheckSpec group;
  group.type = "any";
  group.members = {run.plan.suite.cases[1].checks.front(), command};
  run.plan.suite.cases[1].checks = {group};
  const std::string lines = TagLines(run.judged(), 0).text();
  EXPECT_THAT(lines, HasSubstr("  checks      executed · 1 case · +100 points"));
  EXPECT_THAT(lines, HasSubstr("  checks      text · 1 case · 0 points"));
  run.plan.suite.cases[0].checks = {command};
  EXPECT_THAT(TagLines(run.judged(), 0).text(), IsEmpty()) << "all are executed: there is nothing to tell apart";
}

TEST(TagLines, AreSafe) {
  FindingsRun run;
  run.plan.suite.cases[0].tags = {kHostile};
  EXPECT_THAT(TagLines(run.judged(), 0).text(), Not(HasSubstr("\x1b")));
}

TEST(FindingDetails, PassAtK) {
  EXPECT_THAT(FindingDetails(FindingsRun().judged()).text(),
              HasSubstr("pass@2      with skill · at least one of 2 passes: 100 % · all pass: 100 %\n"));
}

TEST(EvalToJson, Findings) {
  FindingsRun run;
  run.plan.suite.cases[0].split = Split::kTrain;
  run.plan.suite.cases[0].tags = {"arithmetic"};
  const Json student = EvalToJson(run.judged()).at("students").at(0);
  EXPECT_EQ(student.at("fixed_cases"), Json({"hard"}));
  EXPECT_EQ(student.at("broken_cases"), Json::array());
  EXPECT_EQ(student.at("tags").at(0).at("tag"), "arithmetic");
  EXPECT_EQ(student.at("tags").at(0).at("lift"), 0.0);
  EXPECT_EQ(student.at("pass_at_k").at("with_skill").at(1).at("k"), 2);
  EXPECT_EQ(student.at("pass_at_k").at("baseline").at(1).at("any_of_k").at("rate"), 0.5);
  EXPECT_EQ(student.at("drift").at("p"), 1.0);
  EXPECT_EQ(student.at("train_cases").at("cases"), 1);
  EXPECT_EQ(student.at("train_cases").at("others").at("lift"), 1.0);
}

}  // namespace
}  // namespace upskill
