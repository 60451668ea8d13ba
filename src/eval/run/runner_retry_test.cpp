// SPDX-License-Identifier: Apache-2.0
// How a run handles errors.
#include <gmock/gmock.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "eval/run/runner.h"
#include "eval/verdict/summary.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Scope = Model::CancelScope;

TEST(RunPlanErrors, ErrorsAreRetriedAndNeverCountAsFailedAnswers) {
  const TempFolder folder;
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t) {
    return request.messages[0].text == "question 1" ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  RunnerBench bench(MakeTestPlan(2), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.input.attempts = 3;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(2 * 3 + 2));
  EXPECT_EQ(outcome.progress.errors, 2U);
  EXPECT_EQ(outcome.progress.retries, 4U);
  EXPECT_EQ(outcome.progress.done, 2U);
  const RunSummary summary = Summarize(outcome.data);
  for (const Arm arm : bench.plan.arms) {
    EXPECT_EQ(summary.students[0].arms.at(arm).errors, 1U);
    EXPECT_EQ(summary.students[0].arms.at(arm).answered, 1U);
    EXPECT_DOUBLE_EQ(*summary.students[0].arms.at(arm).rate(), 1.0);
  }
  EXPECT_FALSE(summary.complete());
  const std::vector<Sample> stored = ReadJournal(journal->folder())->samples;
  EXPECT_THAT(stored, SizeIs(8));  // every attempt
  std::multiset<int> attempts;
  for (const Sample& sample : stored) {
    if (!sample.ok()) attempts.insert(sample.attempt);
  }
  EXPECT_THAT(attempts, ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(RunPlanErrors, WhatHasUsedTokensIsRepeatedOnce) {
  FakeModel model("fake", 1, [](const ChatRequest&, std::size_t) {
    Error slow = Error{ErrorKind::kUnavailable, "not done in time"}.Because(ErrorCause::kTimeout);
    slow.used_tokens = 1000;
    return Result<ChatResponse>(slow);
  });
  RunnerBench bench(MakeTestPlan(1), {&model});
  bench.plan.arms = {Arm::kSkill};
  bench.input.attempts = 4;
  EXPECT_EQ(bench.Run().progress.errors, 1U);
  EXPECT_THAT(model.requests, SizeIs(2));
}

TEST(RunPlanErrors, ARetryCanSucceed) {
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t number) {
    return number < 2 ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  RunnerBench bench(MakeTestPlan(1), {&model});
  bench.plan.arms = {Arm::kSkill};
  const RunOutcome outcome = bench.Run();
  ASSERT_THAT(outcome.data.samples(), SizeIs(1));
  EXPECT_TRUE(outcome.data.samples()[0]->passed());
  EXPECT_EQ(outcome.data.samples()[0]->attempt, 2);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_EQ(outcome.progress.retries, 2U);
  EXPECT_EQ(outcome.data.attempts(0, Arm::kSkill).attempts, 3U);
}

// The cells of a run with their final samples.
std::vector<std::string> Finals(const RunData& data) {
  std::vector<std::string> finals;
  for (const SamplePtr& sample : data.samples())
    finals.push_back(CellName(*sample) + (sample->ok() ? " answered" : " " + sample->error->message));
  return finals;
}

// `eval` judges what it holds in memory, `report` what it reads from the folder.
TEST(RunPlanErrors, AnInterruptedRetryLooksTheSameInTheJournal) {
  const TempFolder folder;
  const auto script = [](const ChatRequest& request, std::size_t) {
    return request.messages[0].text == "question 2" ? Result<ChatResponse>(Overloaded()) : Right(request);
  };
  FakeModel model("fake", 1, script);
  RunnerBench bench(MakeTestPlan(3), {&model});
  const SteppingClock clock(std::chrono::milliseconds(1));  // no retry is due before the other cells are answered
  bench.input.clock = &clock;
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.done == 4 && progress.retries > 0) bench.stop = 1;
  };
  const RunOutcome outcome = bench.Run();
  ASSERT_TRUE(outcome.interrupted);
  ASSERT_GT(outcome.progress.retries, 0U);
  ASSERT_EQ(outcome.progress.errors, 0U) << "the retries were dropped";
  EXPECT_THAT(Finals(outcome.data), SizeIs(4));
  const RunData stored = RunData::Read(journal->folder()).value();
  EXPECT_EQ(Finals(stored), Finals(outcome.data));
  for (const Arm arm : bench.plan.arms)
    EXPECT_EQ(stored.attempts(0, arm).attempts, outcome.data.attempts(0, arm).attempts);
}

TEST(RunPlanErrors, ErrorsOfAResumedRunStayUntilTheyAreAnswered) {
  const TempFolder folder;
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t) {
    return request.messages[0].text == "question 2" ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  RunnerBench bench(MakeTestPlan(3), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  ASSERT_EQ(bench.Run().progress.errors, 2U);
  bench.input.resumed = ReadJournal(journal->folder())->samples;
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.retries > 0) bench.stop = 1;
  };
  const RunOutcome resumed = bench.Run();
  ASSERT_TRUE(resumed.interrupted);
  EXPECT_THAT(Finals(resumed.data), SizeIs(6));
  EXPECT_EQ(Finals(RunData::Read(journal->folder()).value()), Finals(resumed.data));
}

// The times, in seconds, of a model's requests if all fail with this error.
std::vector<double> TimesOfAttempts(const Error& error, std::chrono::milliseconds step) {
  FakeModel model("fake", 1, [&](const ChatRequest&, std::size_t) { return error; });
  RunnerBench bench(MakeTestPlan(1), {&model});
  bench.plan.arms = {Arm::kSkill};
  const SteppingClock clock(step);
  bench.input.clock = &clock;
  std::vector<double> times;
  model.on_start = [&] { times.push_back(SecondsBetween(Clock::Steady{}, clock.Now())); };
  bench.Run();
  return times;
}

TEST(RunPlanErrors, WaitsLongerBeforeEachRetry) {
  const std::vector<double> times = TimesOfAttempts(Overloaded(), std::chrono::milliseconds(700));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_GE(times[1] - times[0], 0.5);
  EXPECT_GE(times[2] - times[1], 1.0);
  EXPECT_GE(times[3] - times[2], 2.0);
}

TEST(RunPlanErrors, WaitsAsLongAsTheServerSays) {
  Error error = Overloaded();
  error.retry_after = seconds(60);
  std::vector<double> times = TimesOfAttempts(error, seconds(30));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_GE(times[1] - times[0], 60.0);
  error.retry_after = std::chrono::hours(1);  // capped: nobody waits that long
  times = TimesOfAttempts(error, seconds(10));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_LT(times[3] - times[0], 3600.0);
}

TEST(RunPlanErrors, OtherErrorsAreNotRetried) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo}) {
    FakeModel model("fake", 1, [kind](const ChatRequest&, std::size_t) { return Error{kind, "no"}; });
    RunnerBench bench(MakeTestPlan(3), {&model});
    const RunOutcome outcome = bench.Run();
    EXPECT_THAT(model.requests, SizeIs(6));
    EXPECT_EQ(outcome.progress.errors, 6U);
    EXPECT_EQ(outcome.progress.retries, 0U);
    EXPECT_THAT(outcome.stopped_models, IsEmpty());
  }
}

TEST(RunPlanErrors, PermanentErrorsStopOneModelWhileAnotherContinues) {
  FakeModel refusing("a", 1, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kPermanent, "no key"}; });
  FakeModel answering("b", 1, AlwaysRight());
  RunnerBench bench(MakeTestPlan(5, 1, {"a", "b"}), {&refusing, &answering});
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(refusing.requests, SizeIs(3));
  EXPECT_THAT(refusing.cancels, ElementsAre(Scope::kWaiting));
  EXPECT_THAT(answering.requests, SizeIs(10));
  EXPECT_THAT(answering.cancels, IsEmpty());
  EXPECT_THAT(outcome.stopped_models, ElementsAre("a: no key"));
  EXPECT_EQ(outcome.progress.errors, 3U);
  EXPECT_EQ(outcome.progress.done, 10U);
  EXPECT_FALSE(outcome.interrupted);
}

TEST(RunPlanErrors, PermanentErrorsInFlightDoNotStopAModelTwice) {
  FakeModel model("a", 8, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kPermanent, "no key"}; });
  RunnerBench bench(MakeTestPlan(10, 1, {"a"}), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(8));
  EXPECT_THAT(model.cancels, SizeIs(1));
  EXPECT_THAT(outcome.stopped_models, SizeIs(1));
  EXPECT_EQ(outcome.progress.errors, 8U);
}

TEST(RunPlanErrors, AServerThatIsNotThereIsNotTriedForEveryCell) {
  FakeModel model("a", 1, [](const ChatRequest&, std::size_t) {
    return Error{ErrorKind::kUnavailable, "no connection"}.Because(ErrorCause::kUnreachable);
  });
  RunnerBench bench(MakeTestPlan(20, 1, {"a"}), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_LE(model.requests.size(), 8U);
  EXPECT_THAT(outcome.stopped_models, ElementsAre("a: no connection"));
}

TEST(RunPlanErrors, TheSameErrorForEveryRequestStopsAModelThatNeverAnswered) {
  FakeModel model("a", 1, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kInput, "no"}; });
  RunnerBench bench(MakeTestPlan(20, 1, {"a"}), {&model});
  EXPECT_THAT(bench.Run().stopped_models, ElementsAre("a: no"));
  EXPECT_LT(model.requests.size(), 10U);
}

TEST(RunPlanErrors, AnAnswerBetweenPermanentErrorsKeepsAModel) {
  FakeModel model("a", 1, [](const ChatRequest& request, std::size_t number) {
    return number % 3 == 2 ? Right(request) : Result<ChatResponse>(Error{ErrorKind::kPermanent, "too long"});
  });
  RunnerBench bench(MakeTestPlan(6, 1, {"a"}), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(12));
  EXPECT_THAT(outcome.stopped_models, IsEmpty());
  EXPECT_EQ(outcome.progress.errors, 8U);
}

}  // namespace
}  // namespace upskill
