// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/workspace_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "eval/journal/sample.h"
#include "eval/plan/cell.h"
#include "eval/run/cell_checks.h"
#include "support/plan_fixture.h"
#include "support/work_meter.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plan ActingPlan() {
  Plan plan = MakeTestPlan(2);
  plan.suite.cases[0].mode = CaseMode::kWorkspace;
  plan.suite.cases[0].files = {{"a.txt", "1"}, {"src/b", "2"}};
  plan.workspace.emplace();
  plan.workspace->system_prompt = "Work.";
  plan.workspace->skill = {"test-skill", "d", {{"SKILL.md", "Answer right."}, {"references/r.md", "more"}}};
  plan.workspace->skill_prompt = "There is test-skill.";
  plan.workspace->tools = {{"bash", "runs", {{"type", "object"}}}};
  return plan;
}

std::string KeyIn(const Plan& plan, Arm arm, std::size_t case_index = 0) {
  for (const Cell& cell : CellsOf(plan)) {
    if (cell.arm == arm && cell.case_index == case_index) return cell.key;
  }
  return "";
}

TEST(WorkspaceCell, RequestHasTheTaskAndTheTools) {
  const Plan plan = ActingPlan();
  for (const Cell& cell : CellsOf(plan)) {
    const ChatRequest request = RequestFor(plan, cell, 0);
    if (cell.case_index == 1) {
      EXPECT_EQ(request.task, nullptr);
      EXPECT_TRUE(request.tools.empty());
      continue;
    }
    ASSERT_NE(request.task, nullptr);
    EXPECT_EQ(request.tools.size(), 1U);
    EXPECT_EQ(request.messages.front().text, "question 1");  // its files are in the workspace
    EXPECT_EQ(request.task->files, (WorkspaceFiles{{"a.txt", "1"}, {"src/b", "2"}}));
    EXPECT_EQ(request.task->skill.has_value(), cell.arm == Arm::kSkill);
    EXPECT_EQ(request.system,
              cell.arm == Arm::kBaseline ? "Work." : "Work.\n\n<skill name=\"test-skill\">\nAnswer right.\n</skill>");
  }
}

TEST(WorkspaceCell, KeyCoversWhatReachesTheModel) {
  const Plan plan = ActingPlan();
  const std::string skill = KeyIn(plan, Arm::kSkill);
  const std::string baseline = KeyIn(plan, Arm::kBaseline);
  const auto changed = [](const std::function<void(Plan&)>& change) {
    Plan other = ActingPlan();
    change(other);
    return other;
  };
  const Plan reference = changed([](Plan& p) { p.workspace->skill.files["references/r.md"] = "other"; });
  EXPECT_NE(KeyIn(reference, Arm::kSkill), skill);
  EXPECT_EQ(KeyIn(reference, Arm::kBaseline), baseline);
  for (const Plan& other :
       {changed([](Plan& p) { p.workspace->max_turns = 3; }), changed([](Plan& p) { p.workspace->case_tokens = 3; }),
        changed([](Plan& p) { p.workspace->case_seconds = 3; }),
        changed([](Plan& p) { p.workspace->tools[0].description = "x"; }),
        changed([](Plan& p) { p.suite.cases[0].files[0].second = "x"; }),
        changed([](Plan& p) { p.workspace->mode = CaseMode::kAnswer; })}) {
    EXPECT_NE(KeyIn(other, Arm::kBaseline), baseline);
    EXPECT_NE(KeyIn(other, Arm::kSkill), skill);
  }
  const Plan answers = changed([](Plan& p) { p.workspace.reset(); });
  EXPECT_EQ(KeyIn(answers, Arm::kSkill, 1), KeyIn(plan, Arm::kSkill, 1)) << "cases in words keep their keys";
}

TEST(WorkspaceCell, LoadedOnDemandTheBodyIsNotInThePrompt) {
  Plan plan = ActingPlan();
  plan.workspace->load = SkillLoad::kOnDemand;
  EXPECT_EQ(WorkspaceSystemPrompt(plan, Arm::kSkill), "Work.\n\nThere is test-skill.");
  EXPECT_EQ(WorkspaceSystemPrompt(plan, Arm::kBaseline), "Work.");
  plan.placebo = "Unrelated.";
  const std::shared_ptr<const WorkspaceTask> placebo = TaskOf(plan, Arm::kPlacebo, plan.suite.cases[0]);
  EXPECT_THAT(placebo->skill->files.at("SKILL.md"), HasSubstr("Unrelated."));
  EXPECT_THAT(placebo->skill->files.at("SKILL.md"), Not(HasSubstr("Answer right")));
}

TEST(WorkspaceCell, PlanAndSampleAreStoredAndReadBack) {
  const Plan plan = ActingPlan();
  const Result<Plan> read = PlanFromJson(ParseJson(DumpJson(PlanToJson(plan)), "plan").value(), "plan.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(KeyIn(*read, Arm::kSkill), KeyIn(plan, Arm::kSkill));
  EXPECT_EQ(read->workspace->skill, plan.workspace->skill);
  Sample sample;
  sample.key = "k";
  sample.case_id = "case-1";
  sample.response.work.emplace();
  sample.response.work->changes.written["a.txt"] = "new";
  sample.response.work->changes.removed = {"src/b"};
  const Result<Sample> back = SampleFromJson(SampleToJson(sample));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->response.work, sample.response.work);
  EXPECT_EQ(FinalFiles(plan.suite.cases[0], back->response), (WorkspaceFiles{{"a.txt", "new"}}));
  EXPECT_FALSE(FinalFiles(plan.suite.cases[0], ChatResponse()).has_value());
}

TEST(WorkspaceCell, CallsOfToolsAreChecked) {
  Suite suite = ParseSuite(R"([{"id": "c", "input": "i", "mode": "workspace", "checks": [
    {"type": "tool_call", "tool": "write_file", "arguments": {"path": "a.txt"}},
    {"type": "tool_call", "tool": "bash", "minimum": 2},
    {"type": "tool_call", "tool": "bash", "pattern": "make", "maximum": 0}]}])",
                           "s.json")
                    .value();
  const CellChecks checks = CellChecks::Make(suite.cases[0], DefaultSandbox(), false).value();
  Sample sample;
  EXPECT_EQ(checks.Run(sample).at(0).outcome, Outcome::kSkip) << "an answer in words";
  WorkRecord& work = sample.response.work.emplace();
  work.tools = {{"bash", 2}, {"write_file", 1}};
  work.transcript = ParseJson(R"([{"calls": [{"name": "write_file", "arguments": "{\"path\": \"a.txt\"}"},
                                             {"name": "bash", "arguments": "{\"command\": \"ls\"}"}]},
                                  {"text": "Done."}])",
                              "transcript")
                        .value();
  const std::vector<CheckResult> results = checks.Run(sample);
  EXPECT_EQ(results.at(0).outcome, Outcome::kPass);
  EXPECT_EQ(results.at(1).outcome, Outcome::kPass) << "a call that the transcript had no room for";
  EXPECT_EQ(results.at(2).outcome, Outcome::kSkip) << "whose arguments nobody knows";
  work.transcript[0]["calls"][1]["arguments"] = WithoutMiddle(std::string(5'000, 'x') + "make", 100);
  EXPECT_EQ(checks.Run(sample).at(2).outcome, Outcome::kFail) << "what was kept of the arguments decides";
}

TEST(WorkspaceCell, KeysTakeTimeForTheSkillsOnceAndNotForEachCase) {
  Plan plan = ActingPlan();
  plan.workspace->mode = CaseMode::kWorkspace;
  plan.workspace->others = {{"other", "o", {{"SKILL.md", std::string(1'000'000, 'x')}}}};
  const auto work = [&](std::size_t cases) {
    Plan larger = plan;
    const Case one = plan.suite.cases[0];
    larger.suite.cases.clear();
    for (std::size_t i = 0; i < cases; ++i) {
      larger.suite.cases.push_back(one);
      larger.suite.cases.back().id = std::to_string(i);
    }
    return WorkMeter().Of([&] { static_cast<void>(CellsOf(larger)); });
  };
  EXPECT_LT(work(40), 4 * work(2)) << "the bodies of the skills are read once for each arm";
}

}  // namespace
}  // namespace upskill
