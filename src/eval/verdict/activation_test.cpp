// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "eval/plan/cell.h"
#include "eval/plan/workspace_cell.h"
#include "eval/run/cell_checks.h"
#include "support/plan_fixture.h"

namespace upskill {
namespace {

Plan QueryPlan(int rounds = 1) {
  Plan plan = MakeTestPlan(1, rounds);
  plan.arms = {Arm::kSkill};
  const Result<Suite> suite = ParseSuite(R"({"cases": [
      {"id": "yes", "input": "Find the doubled rows", "checks": [{"type": "activates"}]},
      {"id": "work", "input": "Clean a.csv", "checks": [{"type": "activates"}, {"type": "contains", "text": "clean"}]},
      {"id": "no", "input": "Draw a chart", "checks": [{"type": "activates", "expected": false}]}]})",
                                         "queries.json");
  CHECK(suite.ok());
  plan.suite = *suite;
  plan.workspace.emplace();
  plan.workspace->mode = CaseMode::kWorkspace;
  plan.workspace->load = SkillLoad::kOnDemand;
  plan.workspace->skill = {"tables", "Cleans tables", {{"SKILL.md", "Look."}}};
  plan.workspace->others = {{"charts", "Draws charts", {{"SKILL.md", "Draw."}}}};
  plan.workspace->activation = true;
  return plan;
}

Sample AnswerTo(const Plan& plan, std::size_t query, int round, bool read, bool left = false,
                const std::string& text = "clean") {
  Sample sample;
  sample.student = "fake";
  sample.arm = Arm::kSkill;
  sample.case_id = plan.suite.cases[query].id;
  sample.round = round;
  sample.response.text = text;
  sample.response.work.emplace().skill.emplace();
  if (read) sample.response.work->skill->read = {"SKILL.md"};
  sample.response.work->skill->left = left;
  const Result<CellChecks> checks = CellChecks::Make(plan.suite.cases[query], DefaultSandbox(), false);
  CHECK(checks.ok());
  sample.checks = checks->Run(sample);
  return sample;
}

TEST(Activation, ChecksSayWhetherTheSkillWasReadAsExpected) {
  const Plan plan = QueryPlan();
  EXPECT_TRUE(AnswerTo(plan, 0, 0, true).passed());
  EXPECT_FALSE(AnswerTo(plan, 0, 0, false).passed());
  EXPECT_TRUE(AnswerTo(plan, 2, 0, false).passed());
  EXPECT_FALSE(AnswerTo(plan, 2, 0, true).passed());
  EXPECT_FALSE(AnswerTo(plan, 1, 0, true, false, "no idea").passed());
  EXPECT_EQ(AnswerTo(plan, 2, 0, true).checks.front().name, "the skill is left alone");
}

TEST(Activation, ReadButIgnoredIsNotTheSameAsNotRead) {
  const Plan plan = QueryPlan(4);
  std::vector<Sample> samples;
  samples.push_back(AnswerTo(plan, 0, 0, true));
  samples.push_back(AnswerTo(plan, 0, 1, true, true));             // read, then another skill
  samples.push_back(AnswerTo(plan, 0, 2, false));                  // not triggered
  samples.push_back(AnswerTo(plan, 1, 0, true, false, "dirty"));   // read, and its work failed
  samples.push_back(AnswerTo(plan, 1, 1, false, false, "dirty"));  // not triggered
  samples.push_back(AnswerTo(plan, 2, 0, true));
  samples.push_back(AnswerTo(plan, 2, 1, false));
  const RunData data(plan, std::move(samples));
  const std::optional<ActivationSummary> activation = ActivationOf(data, 0);
  ASSERT_TRUE(activation);
  EXPECT_EQ(activation->recall().hits, 3U);
  EXPECT_EQ(activation->recall().of, 5U);
  EXPECT_EQ(activation->ignored().hits, 2U);
  EXPECT_EQ(activation->ignored().of, 3U);
  EXPECT_EQ(activation->precision().hits, 3U);
  EXPECT_EQ(activation->precision().of, 4U);
  EXPECT_EQ(activation->specificity().hits, 1U);
  EXPECT_EQ(activation->specificity().of, 2U);
  EXPECT_TRUE(activation->recall().interval().Contains(0.6));
}

TEST(Activation, AnOrdinaryRunHasNone) {
  const RunData data(MakeTestPlan(1));
  EXPECT_FALSE(ActivationOf(data, 0));
}

TEST(Activation, PlanKeepsTheOtherSkillsAndTheKeyCoversThem) {
  Plan plan = QueryPlan();
  const Result<Plan> read = PlanFromJson(PlanToJson(plan), "plan.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->measures_activation());
  EXPECT_EQ(read->workspace->others, plan.workspace->others);
  EXPECT_EQ(CellsOf(*read)[0].key, CellsOf(plan)[0].key);
  const ChatRequest request = RequestFor(plan, CellsOf(plan)[0], 0);
  EXPECT_EQ(request.task->others, plan.workspace->others);
  const std::string before = CellsOf(plan)[0].key;
  plan.workspace->others[0].files["SKILL.md"] = "Draw well.";
  EXPECT_NE(CellsOf(plan)[0].key, before);
}

TEST(Activation, TheBaselineHasNoToolThatLoadsSkills) {
  Plan plan = QueryPlan();
  plan.workspace->tools = {{"bash", "runs", {}}, {std::string(kActivateSkillTool), "loads", {}}};
  EXPECT_EQ(ToolsOfArm(plan, Arm::kSkill).size(), 2U);
  EXPECT_EQ(ToolsOfArm(plan, Arm::kBaseline).size(), 1U);
}

}  // namespace
}  // namespace upskill
