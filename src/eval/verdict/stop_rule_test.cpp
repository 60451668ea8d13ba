// SPDX-License-Identifier: Apache-2.0
// How long a run with --stop-when-decided goes on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "eval/run/runner.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/judged_run.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"

namespace upskill {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::Le;

constexpr int kStoppedCases = 12;

Plan DecidingPlan(int rounds, std::vector<Arm> arms, const std::vector<std::string>& students = {"fake"}) {
  Plan plan = MakeTestPlan(kStoppedCases, rounds, students);
  plan.arms = std::move(arms);
  plan.previous = Snapshot("test-skill", "Answer as before.");
  plan.stop_when_decided = true;
  return plan;
}

Arm ArmOfRequest(const ChatRequest& request) {
  if (!WithSkill(request)) return Arm::kBaseline;
  return request.system.find("as before") == std::string::npos ? Arm::kSkill : Arm::kPrevious;
}

// In each arm, passes this many of every ten answers, spread evenly.
FakeModel::Script PassesOfTen(std::map<Arm, int> passes) {
  return [passes, asked = std::map<Arm, int>()](const ChatRequest& request, std::size_t) mutable {
    const Arm arm = ArmOfRequest(request);
    const int turn = asked[arm]++;
    ChatResponse response = *(turn * 7 % 10 < passes.at(arm) ? Right(request) : Text("wrong"));
    response.text += fmt::format(" ({})", turn);  // no two answers are equal
    return response;
  };
}

struct Ended {
  Ended(Plan plan, const std::vector<FakeModel*>& models) {
    RunnerBench bench(std::move(plan), {models.begin(), models.end()});
    RunOutcome outcome = bench.Run();
    saved = outcome.progress.saved;
    for (std::size_t i = 0; i < models.size(); ++i) rounds.push_back(outcome.data.rounds(i));
    run = Judge(std::move(outcome.data));
  }

  std::vector<int> rounds;  // by student
  std::size_t saved = 0;
  JudgedRun run;
};

// The skill wins against the baseline in most cells, and against the previous version in few.
TEST(StopRule, WaitsForTheComparisonWithThePreviousVersion) {
  FakeModel without("fake", 100, PassesOfTen({{Arm::kBaseline, 0}, {Arm::kSkill, 9}}));
  const Ended alone(DecidingPlan(30, {Arm::kBaseline, Arm::kSkill}), {&without});
  FakeModel with("fake", 100, PassesOfTen({{Arm::kBaseline, 0}, {Arm::kSkill, 9}, {Arm::kPrevious, 8}}));
  const Ended both(DecidingPlan(30, {Arm::kBaseline, Arm::kSkill, Arm::kPrevious}), {&with});
  EXPECT_THAT(alone.rounds, Each(Le(2)));
  EXPECT_THAT(both.rounds, Each(Gt(3)));
  EXPECT_EQ(both.run.verdicts[0].word, Verdict::kHelps);
  EXPECT_EQ(both.run.others.at(Arm::kPrevious)[0].word, Verdict::kHelps);
  EXPECT_GT(both.saved, 0U);
  EXPECT_TRUE(both.run.summary.complete());
}

TEST(StopRule, AnOpenComparisonTakesAllPlannedRounds) {
  FakeModel model("fake", 100, PassesOfTen({{Arm::kBaseline, 0}, {Arm::kSkill, 9}, {Arm::kPrevious, 8}}));
  const Ended ended(DecidingPlan(3, {Arm::kBaseline, Arm::kSkill, Arm::kPrevious}), {&model});
  EXPECT_EQ(ended.rounds[0], 3);
  EXPECT_EQ(ended.run.others.at(Arm::kPrevious)[0].word, Verdict::kUndecided);
  EXPECT_TRUE(ended.run.summary.complete());
}

TEST(StopRule, WaitsForWhatAGateBounds) {
  const auto rounds = [](const std::string& gate) {
    FakeModel model("fake", 100, PassesOfTen({{Arm::kBaseline, 3}, {Arm::kSkill, 7}}));
    Plan plan = DecidingPlan(60, {Arm::kBaseline, Arm::kSkill});
    plan.terms.gate = gate;
    const Ended ended(plan, {&model});
    EXPECT_TRUE(ended.run.summary.complete());
    return ended.rounds[0];
  };
  const int word = rounds("");
  EXPECT_LE(word, 8);
  EXPECT_EQ(rounds("helps:*"), word);
  EXPECT_EQ(rounds("pass>50%; tokens<1%; lift>25@estimate"), word);
  EXPECT_GT(rounds("lift>25"), word);
  EXPECT_LT(rounds("lift>25"), 60);
  EXPECT_LT(rounds("lift>70"), 60) << "shown to be less";
  EXPECT_GT(rounds("helps-in-general:*"), word);
}

TEST(StopRule, BothChoicesOfAGateAnswerUntilItIsDecided) {
  FakeModel haiku("haiku", 100, PassesOfTen({{Arm::kBaseline, 0}, {Arm::kSkill, 9}}));
  FakeModel opus("opus", 100, PassesOfTen({{Arm::kBaseline, 9}, {Arm::kSkill, 0}}));
  for (FakeModel* model : {&haiku, &opus}) model->set_in_process();
  Plan plan = DecidingPlan(60, {Arm::kBaseline, Arm::kSkill}, {"haiku", "opus"});
  plan.terms.gate = "not-worse:haiku+skill vs opus:20";
  const Ended ended(plan, {&haiku, &opus});
  EXPECT_EQ(ended.rounds[0], ended.rounds[1]) << "neither runs ahead";
  EXPECT_LT(ended.rounds[0], 60);
  EXPECT_TRUE(ended.run.summary.complete());
  const std::vector<GateResult> results = CheckGate(*ParseGate(plan.terms.gate), ended.run);
  EXPECT_TRUE(results[0].passed) << results[0].detail;
}

// A guard against a large loss ends early, whatever the verdicts say.
TEST(StopRule, ANotRegressedSkillNeedsOneRound) {
  FakeModel model("fake", 100, PassesOfTen({{Arm::kBaseline, 4}, {Arm::kSkill, 9}, {Arm::kPrevious, 9}}));
  for (const std::vector<Arm>& arms :
       {std::vector<Arm>{Arm::kSkill, Arm::kPrevious}, {Arm::kBaseline, Arm::kSkill, Arm::kPrevious}}) {
    Plan plan = DecidingPlan(30, arms);
    plan.terms.gate = "not-regressed";
    const Ended ended(plan, {&model});
    EXPECT_EQ(ended.rounds[0], 1);
    EXPECT_TRUE(ended.run.summary.complete());
    EXPECT_GT(ended.saved, 0U);
    EXPECT_TRUE(CheckGate(*ParseGate(plan.terms.gate, plan), ended.run)[0].passed);
  }
}

TEST(StopRule, ARegressionEndsTheRunWhenItIsShown) {
  FakeModel model("fake", 100, PassesOfTen({{Arm::kSkill, 5}, {Arm::kPrevious, 9}}));
  Plan plan = DecidingPlan(30, {Arm::kSkill, Arm::kPrevious});
  plan.terms.gate = "not-regressed";
  const Ended ended(plan, {&model});
  EXPECT_LE(ended.rounds[0], 2);
  EXPECT_FALSE(CheckGate(*ParseGate(plan.terms.gate, plan), ended.run)[0].passed);
}

// The other clauses are waited for.
TEST(StopRule, OtherClausesStillTakeTheirRounds) {
  FakeModel model("fake", 100, PassesOfTen({{Arm::kBaseline, 4}, {Arm::kSkill, 6}, {Arm::kPrevious, 6}}));
  Plan plan = DecidingPlan(30, {Arm::kBaseline, Arm::kSkill, Arm::kPrevious});
  plan.terms.gate = "not-regressed; helps:* vs baseline";
  const Ended ended(plan, {&model});
  EXPECT_GT(ended.rounds[0], 1);
  EXPECT_EQ(ended.run.verdicts[0].word, Verdict::kHelps);
}

TEST(StopRule, AStudentThatCannotAnswerHoldsUpNoOther) {
  FakeModel haiku("haiku", 100, PassesOfTen({{Arm::kBaseline, 0}, {Arm::kSkill, 9}}));
  FakeModel opus("opus", 1, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kPermanent, "no"}; });
  Plan plan = DecidingPlan(60, {Arm::kBaseline, Arm::kSkill}, {"haiku", "opus"});
  plan.terms.gate = "not-worse:haiku+skill vs opus:20";
  const Ended ended(plan, {&haiku, &opus});
  EXPECT_LE(ended.rounds[0], 3);
  EXPECT_FALSE(ended.run.summary.complete());
}

// Ctrl-C in the middle of a round that was to decide a contrast.
TEST(StopRule, AStoppedRunWithAnOpenContrastIsIncomplete) {
  FakeModel model("fake", 1, PassesOfTen({{Arm::kBaseline, 3}, {Arm::kSkill, 7}}));
  RunnerBench bench(DecidingPlan(60, {Arm::kBaseline, Arm::kSkill}), {&model});
  bench.plan.terms.gate = "lift>25";
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.done >= static_cast<std::size_t>(3 * 2 * kStoppedCases + 5)) bench.stop = 1;
  };
  RunOutcome outcome = bench.Run();
  ASSERT_TRUE(outcome.interrupted);
  const JudgedRun run = Judge(std::move(outcome.data));
  EXPECT_EQ(run.verdicts[0].word, Verdict::kHelps);
  EXPECT_FALSE(run.summary.complete());
}

}  // namespace
}  // namespace upskill
