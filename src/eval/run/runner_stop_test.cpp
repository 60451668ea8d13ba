// SPDX-License-Identifier: Apache-2.0
// A run that ends early: stopped by the user or its time limit, by a journal that can't be written, or by an exception.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "eval/run/runner.h"
#include "support/fake_model.h"
#include "support/file_fixture.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Scope = Model::CancelScope;

TEST(RunPlanStop, TheFirstStopFinishesWhatIsInFlight) {
  const TempFolder folder;
  FakeModel model("fake", 4, Hold());
  model.running = 2;
  model.after_cancel = [&] { model.AnswerHeld(Text("right 1")); };
  RunnerBench bench(MakeTestPlan(5), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.in_flight == 4) bench.stop = 1;
  };
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(model.requests, SizeIs(4));
  EXPECT_THAT(model.cancels, ElementsAre(Scope::kWaiting));
  EXPECT_THAT(bench.observer.stopping, ElementsAre(false));
  EXPECT_EQ(bench.observer.in_flight_when_stopping, 4U);
  ASSERT_THAT(outcome.data.samples(), SizeIs(2));  // the two cancelled ones stay open
  EXPECT_TRUE(outcome.data.samples()[0]->ok());
  EXPECT_TRUE(outcome.data.samples()[1]->ok());
  EXPECT_EQ(outcome.progress.done, 2U);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_THAT(ReadJournal(journal->folder())->samples, SizeIs(2));
}

TEST(RunPlanStop, TheSecondStopDropsWhatIsInFlight) {
  FakeModel model("fake", 4, Hold());
  model.running = 2;
  RunnerBench bench(MakeTestPlan(5), {&model});
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.in_flight == 4) bench.stop = 1;
    if (progress.in_flight == 2 && model.held() == 2) bench.stop = 2;
  };
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(outcome.data.samples(), IsEmpty());
  EXPECT_THAT(model.cancels, ElementsAre(Scope::kWaiting, Scope::kRunning));
  EXPECT_THAT(bench.observer.stopping, ElementsAre(false, true));
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_EQ(outcome.progress.done, 0U);
}

TEST(RunPlanStop, StoppedBeforeItBegan) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(5), {&model});
  bench.stop = 2;
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(model.requests, IsEmpty());
  EXPECT_THAT(bench.observer.stopping, ElementsAre(true));
}

TEST(RunPlanStop, NoRetriesWhileStopping) {
  FakeModel model("fake", 1, Hold());
  model.running = 1;
  model.after_cancel = [&] { model.AnswerHeld(Overloaded()); };
  RunnerBench bench(MakeTestPlan(2), {&model});
  model.on_start = [&] { bench.stop = 1; };
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(1));
  EXPECT_EQ(outcome.progress.errors, 1U);
  EXPECT_EQ(outcome.progress.retries, 0U);
  EXPECT_TRUE(outcome.interrupted);
}

TEST(RunPlanStop, AFailingJournalEndsTheRun) {
  const TempFolder folder;
  FakeModel answering("a", 4, AlwaysRight());  // four answers are queued when storing the first fails
  FakeModel holding("b", 4, Hold());
  RunnerBench bench(MakeTestPlan(5, 1, {"a", "b"}), {&answering, &holding});
  Result<Journal> journal = Journal::Reopen(folder.path(), bench.clock);
  ASSERT_TRUE(journal.ok());
  bench.input.journal = &*journal;
  const FileSizeLimit full(0);
  const Result<RunOutcome> outcome = RunPlan(bench.input);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, AllOf(HasSubstr("samples.jsonl"), HasSubstr("File too large")));
  EXPECT_THAT(answering.requests, SizeIs(4));
  EXPECT_THAT(holding.cancels, ElementsAre(Scope::kRunning));
  EXPECT_EQ(holding.held(), 0U);
}

TEST(RunPlanStop, AFailingJournalEndsTheRunForErrorsAndCachedSamplesToo) {
  const TempFolder folder;
  FakeModel model("fake", 4, [](const ChatRequest&, std::size_t) { return Overloaded(); });
  RunnerBench bench(MakeTestPlan(2), {&model});
  Result<Journal> journal = Journal::Reopen(folder.path(), bench.clock);
  ASSERT_TRUE(journal.ok());
  bench.input.journal = &*journal;
  const FileSizeLimit full(0);
  EXPECT_FALSE(RunPlan(bench.input).ok());
  EXPECT_THAT(model.requests, SizeIs(4));
  Sample cached;
  cached.key = CellsOf(bench.plan)[0].key;
  bench.input.cached = {cached};
  EXPECT_FALSE(RunPlan(bench.input).ok());
  EXPECT_THAT(model.requests, SizeIs(4));
}

TEST(RunPlanStop, AModelThatNeverAnswersIsAbandonedSoonAfterTheTimeLimit) {
  FakeModel silent("silent", 4, Hold());
  silent.running = 4;
  FakeModel quick("quick", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(5, 1, {"silent", "quick"}), {&silent, &quick});
  bench.clock.set_step(std::chrono::seconds(1));
  bench.input.limits.timeout = std::chrono::seconds(6);
  std::size_t looks = 0;
  bench.observer.on_progress = [&](const RunProgress&) {
    if (++looks > 100) bench.stop = 2;  // fails the test instead of hanging
  };
  const RunOutcome outcome = bench.Run();
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_EQ(outcome.exhausted, "the time limit of 0:06 was reached");
  EXPECT_THAT(silent.cancels, ElementsAre(Scope::kWaiting, Scope::kRunning));
  EXPECT_GT(outcome.progress.done, 0U) << "the answers of the other model";
  EXPECT_EQ(outcome.progress.errors, 0U) << "the abandoned cells stay open";
}

TEST(RunPlanStop, AnswersShortlyAfterTheTimeLimitAreKept) {
  FakeModel model("fake", 2, Hold());
  model.running = 2;
  RunnerBench bench(MakeTestPlan(5), {&model});
  bench.clock.set_step(std::chrono::milliseconds(100));
  bench.input.limits.timeout = std::chrono::seconds(1);
  model.after_cancel = [&] { model.AnswerHeld(Text("right 1")); };
  const RunOutcome outcome = bench.Run();
  EXPECT_EQ(outcome.exhausted, "the time limit of 0:01 was reached");
  EXPECT_THAT(model.cancels, ElementsAre(Scope::kWaiting));
  EXPECT_EQ(outcome.progress.done, 2U);
}

TEST(RunPlanStop, TheTimeLimitEndsARunThatTheUserStopped) {
  FakeModel model("fake", 2, Hold());
  model.running = 2;
  RunnerBench bench(MakeTestPlan(5), {&model});
  bench.clock.set_step(std::chrono::seconds(1));
  bench.input.limits.timeout = std::chrono::seconds(6);
  std::size_t looks = 0;
  bench.observer.on_progress = [&](const RunProgress&) { bench.stop = ++looks > 100 ? 2 : 1; };
  EXPECT_TRUE(bench.Run().interrupted);
  EXPECT_LT(looks, 100U);
}

TEST(RunPlanStop, AnExceptionLeavesNoRequestBehind) {
  FakeModel holding("holding", 4, Hold());
  FakeModel answering("answering", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(5, 1, {"holding", "answering"}), {&holding, &answering});
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.done == 2) throw std::runtime_error("the terminal is gone");
  };
  const Result<RunOutcome> outcome = RunPlan(bench.input);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message, "internal error: the terminal is gone");
  EXPECT_THAT(holding.cancels, ElementsAre(Scope::kRunning));
  EXPECT_EQ(holding.held(), 0U);
}

TEST(RunPlanStop, AModelThatThrowsFailsTheRequestOnly) {
  FakeModel model("fake", 4, [](const ChatRequest& request, std::size_t number) {
    if (number == 1) throw std::runtime_error("bad request");
    return std::optional(Right(request));
  });
  RunnerBench bench(MakeTestPlan(3), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_EQ(outcome.progress.done, 5U);
  EXPECT_EQ(outcome.progress.errors, 1U);
}

}  // namespace
}  // namespace upskill
