// SPDX-License-Identifier: Apache-2.0
#include "eval/run/admission.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "eval/plan/cell.h"
#include "eval/run/budget.h"
#include "eval/run/runner.h"
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
  std::vector<std::size_t> unsure;
  bench.observer.on_progress = [&](const RunProgress& progress) { unsure.push_back(progress.may_be_saved); };
  bench.Run();
  EXPECT_EQ(unsure.front(), 6U) << "the second round";
  EXPECT_EQ(unsure.back(), 0U);
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

TEST(Admission, ModelsInProcessTakeTurnsUnlessTheyCanShareTheProcessors) {
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
  EXPECT_THAT(a.shares, ElementsAre(1));
  order.clear();
  a.set_in_process(2);
  b.set_in_process(3);
  c.set_in_process();
  RunnerBench one_cannot(MakeTestPlan(2, 1, {"a", "b", "c"}), {&a, &b, &c});
  one_cannot.Run();
  EXPECT_EQ(order, "aaaabbbbcccc");
}

TEST(Admission, ModelsInProcessShareTheProcessors) {
  std::string order;
  FakeModel a("a", 1, [&](const ChatRequest& request, std::size_t) {
    order += 'a';
    return Right(request);
  });
  // It answers its first request when c has its last one.
  std::size_t asked_of_c = 0;
  FakeModel b("b", 1, [&](const ChatRequest& request, std::size_t) -> std::optional<Result<ChatResponse>> {
    order += 'b';
    if (asked_of_c < 4) return std::nullopt;
    return Right(request);
  });
  FakeModel c("c", 1, [&](const ChatRequest& request, std::size_t) {
    order += 'c';
    if (++asked_of_c == 4) b.AnswerHeld(Text("right 1"));
    return Right(request);
  });
  a.set_in_process(2);
  b.set_in_process(8);
  c.set_in_process(8);
  RunnerBench bench(MakeTestPlan(2, 1, {"a", "b", "c"}), {&a, &b, &c});
  EXPECT_THAT(bench.Run().data.samples(), SizeIs(12));
  EXPECT_EQ(order, "abaaaccccbbb");
  for (const FakeModel* model : {&a, &b, &c}) EXPECT_THAT(model->shares, ElementsAre(2, 1)) << model->info().name;
  // In the next run, a has all processors to itself again, whatever it was told last.
  RunnerBench alone(MakeTestPlan(2, 1, {"a"}), {&a});
  alone.Run();
  EXPECT_THAT(a.shares, ElementsAre(2, 1, 1));
}

}  // namespace
}  // namespace upskill
