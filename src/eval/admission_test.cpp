// SPDX-License-Identifier: Apache-2.0
#include "eval/admission.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "eval/budget.h"
#include "eval/cell.h"
#include "eval/runner.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Admission, MoreFollowsOnAllButTheLastRequest) {
  FakeModel a("a", 3, AlwaysRight());
  FakeModel b("b", 100, AlwaysRight());
  RunnerBench bench(MakeTestPlan(3, 1, {"a", "b"}), {&a, &b});
  bench.Run();
  for (const FakeModel* model : {&a, &b}) {
    std::vector<bool> flags;
    for (const ChatRequest& request : model->requests) flags.push_back(request.more_follows);
    EXPECT_THAT(flags, ElementsAre(true, true, true, true, true, false));
  }
}

// A local model would wait forever for requests that the verdict on this round may make unnecessary.
TEST(Admission, TheLastRequestOfAJudgedRoundPromisesNothing) {
  FakeModel model("fake", 100, [](const ChatRequest& request, std::size_t number) {
    return number % 3 == 0 ? Text("wrong") : Right(request);
  });
  RunnerBench bench(MakeTestPlan(3, 2), {&model});
  bench.plan.stop_when_decided = true;
  bench.Run();
  std::vector<bool> flags;
  for (const ChatRequest& request : model.requests) flags.push_back(request.more_follows);
  EXPECT_THAT(flags, ElementsAre(true, true, true, true, true, false, true, true, true, true, true, false));
}

TEST(Admission, ALoneRetryPromisesNothing) {
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t number) {
    return number == 0 ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  RunnerBench bench(MakeTestPlan(1), {&model});
  bench.Run();
  ASSERT_THAT(model.requests, SizeIs(3));
  EXPECT_FALSE(model.requests.back().more_follows);
}

// The rest of the budget decides, not the rest of the run.
TEST(Admission, PromisesOnlyWhatTheBudgetHasRoomFor) {
  FakeModel model("fake", 100, Hold());
  RunnerBench bench(MakeTestPlan(3), {&model});
  const ChatRequest request = RequestFor(bench.plan, CellsOf(bench.plan)[0], 0);
  bench.input.limits.max_tokens = 3 * WorstCase(model, request).tokens;
  ChatResponse answer = Text("right");
  answer.usage.input = 3;
  bench.observer.on_progress = [&](const RunProgress&) { model.AnswerHeld(answer); };
  bench.Run();
  ASSERT_GT(model.requests.size(), 2U);
  EXPECT_TRUE(model.requests[0].more_follows);
  EXPECT_FALSE(model.requests[1].more_follows);
}

// With warm_up, a model's window opens after its first answer, so it must not wait for more requests before that.
TEST(Admission, PromisesNothingBeyondTheWarmUp) {
  FakeModel model("fake", 100, Hold());
  model.set_warm_up();
  RunnerBench bench(MakeTestPlan(3), {&model});
  bench.observer.on_progress = [&](const RunProgress&) { model.AnswerHeld(Text("right 1")); };
  bench.Run();
  std::vector<bool> flags;
  for (const ChatRequest& request : model.requests) flags.push_back(request.more_follows);
  EXPECT_THAT(flags, ElementsAre(true, false, true, true, true, false));
}

TEST(Admission, KeepsTheWindowFull) {
  FakeModel model("fake", 4, Hold());
  RunnerBench bench(MakeTestPlan(4), {&model});
  bench.observer.on_progress = [&](const RunProgress& progress) {
    EXPECT_LE(progress.in_flight, 4U);
    if (model.held() == 4) model.AnswerHeld(Text("right 1"));
  };
  EXPECT_THAT(bench.Run().data.samples(), SizeIs(8));
  EXPECT_EQ(model.max_held, 4U);
}

TEST(Admission, ModelsInProcessRunOneAfterTheOther) {
  std::string order;
  const auto note = [&order](char letter) {
    return [&order, letter](const ChatRequest& request, std::size_t) {
      order += letter;
      return Right(request);
    };
  };
  FakeModel a("a", 1, note('a'));
  FakeModel b("b", 1, note('b'));
  FakeModel c("c", 1, note('c'));
  RunnerBench together(MakeTestPlan(2, 1, {"a", "b"}), {&a, &b});
  together.Run();
  EXPECT_EQ(order, "abababab");
  order.clear();
  a.set_in_process();
  b.set_in_process();
  RunnerBench in_turn(MakeTestPlan(2, 1, {"a", "b", "c"}), {&a, &b, &c});
  in_turn.Run();
  EXPECT_EQ(order, "acacacacbbbb");
}

}  // namespace
}  // namespace upskill
