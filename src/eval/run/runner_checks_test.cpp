// SPDX-License-Identifier: Apache-2.0
// Checks that run something, beside the requests in flight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "eval/run/runner.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::SizeIs;

class RunPlanChecks : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available) GTEST_SKIP() << available.error().message;
  }

  // A plan whose cases are checked by a command, which finds the answer in answer.md.
  static Plan PlanWith(const std::string& command, int cases, int rounds = 1) {
    Plan plan = MakeTestPlan(cases, rounds);
    for (Case& test_case : plan.suite.cases) {
      CheckSpec check;
      check.type = "command";
      check.options["command"] = command;
      test_case.checks = {check};
    }
    return plan;
  }
};

TEST_F(RunPlanChecks, DecideOnTheAnswers) {
  const TempFolder folder;
  FakeModel model("fake", 4, [](const ChatRequest& request, std::size_t) {
    return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
  });
  RunnerBench bench(PlanWith("grep -q right answer.md", 3, 2), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  const RunOutcome outcome = bench.Run();
  ASSERT_THAT(outcome.data.samples(), SizeIs(12));
  for (const SamplePtr& sample : outcome.data.samples()) {
    ASSERT_THAT(sample->checks, SizeIs(1));
    EXPECT_EQ(sample->passed(), sample->arm == Arm::kSkill) << sample->checks[0].detail;
  }
  EXPECT_EQ(outcome.progress.done, 12U);
  std::vector<Sample> stored = ReadJournal(journal->folder())->samples;
  EXPECT_EQ(std::erase_if(stored, [](const Sample& sample) { return sample.keeps_answer; }), 12U)
      << "before the checks";
  EXPECT_THAT(stored, SizeIs(12));
}

// The judge isn't asked where a command has failed: that is a wrong answer, not one that couldn't be checked.
TEST_F(RunPlanChecks, AFailingCommandDecidesWithoutTheJudge) {
  FakeModel student("fake", 4, [](const ChatRequest& request, std::size_t) {
    return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
  });
  FakeModel judge("judge", 2, [](const ChatRequest&, std::size_t) {
    return Result<ChatResponse>(Text(R"({"quotes": ["right"], "reason": "", "met": true})"));
  });
  Plan plan = PlanWith("grep -q right answer.md", 2);
  for (Case& test_case : plan.suite.cases) {
    CheckSpec of_judge;
    of_judge.type = "judge";
    of_judge.options = {{"rubric", "It is right."}};
    test_case.checks.insert(test_case.checks.begin(), of_judge);
  }
  RunnerBench bench(plan, {&student});
  bench.input.judge = &judge;
  const RunOutcome outcome = bench.Run();
  EXPECT_EQ(outcome.progress.errors, 0U);
  ASSERT_THAT(outcome.data.samples(), SizeIs(4));
  for (const SamplePtr& sample : outcome.data.samples()) {
    EXPECT_TRUE(sample->ok()) << sample->error->message;
    EXPECT_EQ(sample->passed(), sample->arm == Arm::kSkill);
  }
  EXPECT_THAT(judge.requests, SizeIs(2));
}

TEST_F(RunPlanChecks, RunAgainOnReusedAnswers) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench first(PlanWith("grep -q right answer.md", 2), {&model});
  std::vector<Sample> answers;
  const RunOutcome before = first.Run();
  for (const SamplePtr& sample : before.data.samples()) answers.push_back(*sample);
  ASSERT_THAT(answers, SizeIs(4));
  RunnerBench second(PlanWith("grep -q 'right 1' answer.md", 2), {&model});
  second.input.cached = answers;
  const std::size_t requests = model.requests.size();
  const RunOutcome outcome = second.Run();
  EXPECT_EQ(model.requests.size(), requests);
  EXPECT_EQ(outcome.progress.reused, 4U);
  std::size_t passed = 0;
  for (const SamplePtr& sample : outcome.data.samples()) passed += sample->passed() ? 1 : 0;
  EXPECT_EQ(passed, 2U);
}

TEST_F(RunPlanChecks, EndWhenTheUserCancels) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(PlanWith("sleep 50", 2), {&model});
  bench.observer.on_progress = [&bench](const RunProgress& progress) {
    if (progress.done == 4) bench.stop = 2;
  };
  const auto start = std::chrono::steady_clock::now();
  const RunOutcome outcome = bench.Run();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(outcome.data.samples(), SizeIs(0));
  EXPECT_EQ(outcome.progress.done, 0U);
}

TEST_F(RunPlanChecks, HoldUpTheModelThatIsAhead) {
  FakeModel model("fake", 2, AlwaysRight());
  RunnerBench bench(PlanWith("sleep 0.2", 4), {&model});
  std::size_t most = 0;
  bench.observer.on_progress = [&](const RunProgress& progress) { most = std::max(most, progress.in_flight); };
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(outcome.data.samples(), SizeIs(8));
  EXPECT_LE(most, 2U);
}

}  // namespace
}  // namespace upskill
