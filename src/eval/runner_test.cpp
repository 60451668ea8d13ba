// SPDX-License-Identifier: Apache-2.0
#include "eval/runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "eval/summary.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "util/rng.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Scope = Model::CancelScope;

class Observer : public RunObserver {
 public:
  void OnProgress(const RunProgress& progress) override {
    last = progress;
    if (on_progress) on_progress(progress);
  }
  void OnStopping(const RunProgress& progress, bool now) override {
    stopping.push_back(now);
    in_flight_when_stopping = progress.in_flight;
  }

  std::function<void(const RunProgress&)> on_progress;
  RunProgress last;
  std::vector<bool> stopping;
  std::size_t in_flight_when_stopping = 0;
};

ChatResponse Text(const std::string& text) {
  ChatResponse response;
  response.text = text;
  response.usage.output = 3;
  return response;
}

// "right N" to "question N".
Result<ChatResponse> Right(const ChatRequest& request) {
  return Text("right" + request.messages[0].text.substr(std::string("question").size()));
}

bool WithSkill(const ChatRequest& request) { return request.system.find("<skill") != std::string::npos; }

Error Overloaded() { return Error{ErrorKind::kUnavailable, "overloaded"}; }

FakeModel::Script AlwaysRight() {
  return [](const ChatRequest& request, std::size_t) { return Right(request); };
}

FakeModel::Script Hold() {
  return [](const ChatRequest&, std::size_t) { return std::nullopt; };
}

// What a run needs, with defaults that a test changes.
struct Bench {
  Bench(Plan the_plan, std::vector<Model*> models) : plan(std::move(the_plan)) {
    input.plan = &plan;
    input.models = std::move(models);
    input.clock = &clock;
    input.observer = &observer;
    input.stop = &stop;
  }

  RunOutcome Run() {
    Result<RunOutcome> outcome = RunPlan(input);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome ? std::move(outcome).value() : RunOutcome{};
  }

  Plan plan;
  SteppingClock clock;
  Observer observer;
  StopFlag stop = 0;
  RunInput input;
};

TEST(RunPlan, AnswersAreCheckedAndJournaled) {
  const TempFolder folder;
  FakeModel model("fake", 3, [](const ChatRequest& request, std::size_t) {
    return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
  });
  Bench bench(MakeTestPlan(3, 2), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  const RunOutcome outcome = bench.Run();

  const std::vector<Cell> cells = CellsOf(bench.plan);
  ASSERT_THAT(outcome.samples, SizeIs(12));
  EXPECT_THAT(model.requests, SizeIs(12));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Sample& sample = outcome.samples[i];
    EXPECT_EQ(sample.key, cells[i].key);
    EXPECT_EQ(sample.arm, cells[i].arm);
    EXPECT_EQ(sample.round, cells[i].round);
    EXPECT_EQ(sample.case_id, bench.plan.suite.cases[cells[i].case_index].id);
    EXPECT_EQ(sample.student, "fake");
    EXPECT_EQ(sample.attempt, 0);
    EXPECT_THAT(sample.time, testing::StartsWith("2026-11-21T10:"));
    EXPECT_EQ(sample.passed(), cells[i].arm == Arm::kSkill);
    ASSERT_THAT(sample.checks, SizeIs(1));
  }
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_THAT(outcome.stopped_models, IsEmpty());
  EXPECT_EQ(outcome.progress.done, 12U);
  EXPECT_EQ(outcome.progress.total, 12U);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_EQ(outcome.progress.output_tokens, 36);
  EXPECT_EQ(bench.observer.last.done, 12U);
  EXPECT_EQ(bench.observer.last.in_flight, 0U);

  const Result<JournalContent> content = ReadJournal(journal->folder());
  ASSERT_THAT(content->samples, SizeIs(12));
  const RunSummary summary = Summarize(bench.plan, content->samples);
  EXPECT_TRUE(summary.complete());
  EXPECT_DOUBLE_EQ(*summary.students[0].lift, 1.0);
}

TEST(RunPlan, SendsCellsInOrder) {
  FakeModel model("fake", 2, AlwaysRight());
  Bench bench(MakeTestPlan(2), {&model});
  bench.Run();
  std::vector<std::string> sent;
  for (const ChatRequest& request : model.requests)
    sent.push_back(request.messages[0].text + (WithSkill(request) ? " +" : ""));
  EXPECT_THAT(sent, ElementsAre("question 1", "question 1 +", "question 2", "question 2 +"));
}

TEST(RunPlan, ErrorsAreRetriedAndNeverFailedAnswers) {
  const TempFolder folder;
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t) {
    return request.messages[0].text == "question 1" ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  Bench bench(MakeTestPlan(2), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.input.attempts = 3;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(2 * 3 + 2));
  EXPECT_EQ(outcome.progress.errors, 2U);
  EXPECT_EQ(outcome.progress.retries, 4U);
  EXPECT_EQ(outcome.progress.done, 2U);
  const RunSummary summary = Summarize(bench.plan, outcome.samples);
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

TEST(RunPlan, ARetryCanSucceed) {
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t number) {
    return number < 2 ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  Bench bench(MakeTestPlan(1), {&model});
  bench.plan.arms = {Arm::kSkill};
  const RunOutcome outcome = bench.Run();
  ASSERT_THAT(outcome.samples, SizeIs(1));
  EXPECT_TRUE(outcome.samples[0].passed());
  EXPECT_EQ(outcome.samples[0].attempt, 2);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_EQ(outcome.progress.retries, 2U);
}

// When each request of a model that always fails like this was sent, in seconds.
std::vector<double> TimesOfAttempts(const Error& error, std::chrono::milliseconds step) {
  FakeModel model("fake", 1, [&](const ChatRequest&, std::size_t) { return error; });
  Bench bench(MakeTestPlan(1), {&model});
  bench.plan.arms = {Arm::kSkill};
  const SteppingClock clock(step);
  bench.input.clock = &clock;
  std::vector<double> times;
  model.on_start = [&] { times.push_back(SecondsBetween(Clock::Steady{}, clock.Now())); };
  bench.Run();
  return times;
}

TEST(RunPlan, WaitsLongerBeforeEachRetry) {
  const std::vector<double> times = TimesOfAttempts(Overloaded(), std::chrono::milliseconds(700));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_GE(times[1] - times[0], 0.5);
  EXPECT_GE(times[2] - times[1], 1.0);
  EXPECT_GE(times[3] - times[2], 2.0);
}

TEST(RunPlan, WaitsAsLongAsTheServerSays) {
  Error error = Overloaded();
  error.retry_after = seconds(60);
  std::vector<double> times = TimesOfAttempts(error, seconds(30));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_GE(times[1] - times[0], 60.0);
  error.retry_after = std::chrono::hours(1);  // nobody waits for that
  times = TimesOfAttempts(error, seconds(10));
  ASSERT_THAT(times, SizeIs(4));
  EXPECT_LT(times[3] - times[0], 3600.0);
}

TEST(RunPlan, OtherErrorsAreNotRetried) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo}) {
    FakeModel model("fake", 1, [kind](const ChatRequest&, std::size_t) { return Error{kind, "no"}; });
    Bench bench(MakeTestPlan(3), {&model});
    const RunOutcome outcome = bench.Run();
    EXPECT_THAT(model.requests, SizeIs(6));
    EXPECT_EQ(outcome.progress.errors, 6U);
    EXPECT_EQ(outcome.progress.retries, 0U);
    EXPECT_THAT(outcome.stopped_models, IsEmpty());
  }
}

TEST(RunPlan, RefusalsStopOneModelWhileAnotherGoesOn) {
  FakeModel refusing("a", 1, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kPermanent, "no key"}; });
  FakeModel answering("b", 1, AlwaysRight());
  Bench bench(MakeTestPlan(5, 1, {"a", "b"}), {&refusing, &answering});
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

TEST(RunPlan, RefusalsInFlightDoNotStopAModelTwice) {
  FakeModel model("a", 8, [](const ChatRequest&, std::size_t) { return Error{ErrorKind::kPermanent, "no key"}; });
  Bench bench(MakeTestPlan(10, 1, {"a"}), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(8));
  EXPECT_THAT(model.cancels, SizeIs(1));
  EXPECT_THAT(outcome.stopped_models, SizeIs(1));
  EXPECT_EQ(outcome.progress.errors, 8U);
}

TEST(RunPlan, AnAnswerBetweenRefusalsKeepsAModel) {
  FakeModel model("a", 1, [](const ChatRequest& request, std::size_t number) {
    return number % 3 == 2 ? Right(request) : Result<ChatResponse>(Error{ErrorKind::kPermanent, "too long"});
  });
  Bench bench(MakeTestPlan(6, 1, {"a"}), {&model});
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(12));
  EXPECT_THAT(outcome.stopped_models, IsEmpty());
  EXPECT_EQ(outcome.progress.errors, 8U);
}

TEST(RunPlan, TheFirstStopFinishesWhatIsInFlight) {
  const TempFolder folder;
  FakeModel model("fake", 4, Hold());
  model.running = 2;
  model.after_cancel = [&] { model.AnswerHeld(Text("right 1")); };
  Bench bench(MakeTestPlan(5), {&model});
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
  ASSERT_THAT(outcome.samples, SizeIs(2));  // the two cancelled ones are left undone
  EXPECT_TRUE(outcome.samples[0].ok());
  EXPECT_TRUE(outcome.samples[1].ok());
  EXPECT_EQ(outcome.progress.done, 2U);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_THAT(ReadJournal(journal->folder())->samples, SizeIs(2));
}

TEST(RunPlan, TheSecondStopDropsWhatIsInFlight) {
  FakeModel model("fake", 4, Hold());
  model.running = 2;
  Bench bench(MakeTestPlan(5), {&model});
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.in_flight == 4) bench.stop = 1;
    if (progress.in_flight == 2 && model.held() == 2) bench.stop = 2;
  };
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(outcome.samples, IsEmpty());
  EXPECT_THAT(model.cancels, ElementsAre(Scope::kWaiting, Scope::kRunning));
  EXPECT_THAT(bench.observer.stopping, ElementsAre(false, true));
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_EQ(outcome.progress.done, 0U);
}

TEST(RunPlan, StoppedBeforeItBegan) {
  FakeModel model("fake", 4, AlwaysRight());
  Bench bench(MakeTestPlan(5), {&model});
  bench.stop = 2;
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_THAT(model.requests, IsEmpty());
  EXPECT_THAT(bench.observer.stopping, ElementsAre(true));
}

TEST(RunPlan, NoRetriesWhileStopping) {
  FakeModel model("fake", 1, Hold());
  model.running = 1;
  model.after_cancel = [&] { model.AnswerHeld(Overloaded()); };
  Bench bench(MakeTestPlan(2), {&model});
  model.on_start = [&] { bench.stop = 1; };
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(1));
  EXPECT_EQ(outcome.progress.errors, 1U);
  EXPECT_EQ(outcome.progress.retries, 0U);
  EXPECT_TRUE(outcome.interrupted);
}

TEST(RunPlan, ResumedAndCachedCellsAreNotAskedAgain) {
  const TempFolder folder;
  FakeModel model("fake", 4, AlwaysRight());
  Bench bench(MakeTestPlan(3), {&model});
  const std::vector<Cell> cells = CellsOf(bench.plan);
  FakeModel first("fake", 4, AlwaysRight());
  const RunOutcome before = Bench(MakeTestPlan(3), {&first}).Run();

  bench.input.resumed = {before.samples[0], before.samples[1], before.samples[2]};
  bench.input.resumed[1].error = Overloaded();        // asked again
  bench.input.resumed[2].key = std::string(64, '0');  // of another question: asked again
  bench.input.resumed[0].response.text = "as it was";
  bench.input.cached = {before.samples[3], before.samples[4]};
  for (Sample& sample : bench.input.cached) {
    sample.cached_from = "earlier";
    sample.case_id = "of another suite";
    sample.checks.clear();
  }
  bench.input.cached[1].response.text = "wrong now";
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  const RunOutcome outcome = bench.Run();

  EXPECT_THAT(model.requests, SizeIs(3));
  ASSERT_THAT(outcome.samples, SizeIs(6));
  EXPECT_EQ(outcome.samples[0].response.text, "as it was");
  EXPECT_EQ(outcome.samples[3].cached_from, "earlier");
  EXPECT_EQ(outcome.samples[3].case_id, "case-2");
  EXPECT_TRUE(outcome.samples[3].passed());  // checked anew
  EXPECT_FALSE(outcome.samples[4].passed());
  EXPECT_EQ(outcome.progress.reused, 3U);
  EXPECT_EQ(outcome.progress.done, 6U);
  EXPECT_EQ(outcome.progress.output_tokens, 9);  // reused answers cost none
  const std::vector<Sample> stored = ReadJournal(journal->folder())->samples;
  EXPECT_THAT(stored, SizeIs(5));  // all but the resumed one, which stands there already
  EXPECT_EQ(stored[0].cached_from, "earlier");
  EXPECT_TRUE(stored[2].cached_from.empty());
}

TEST(RunPlan, NothingIsAskedWhenAllIsThere) {
  FakeModel model("fake", 4, AlwaysRight());
  Bench bench(MakeTestPlan(2), {&model});
  bench.input.resumed = Bench(MakeTestPlan(2), {&model}).Run().samples;
  model.requests.clear();
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, IsEmpty());
  EXPECT_THAT(outcome.samples, SizeIs(4));
  EXPECT_EQ(outcome.progress.reused, 4U);
}

TEST(RunPlan, CasesWithEqualInputsAreBothAsked) {
  FakeModel model("fake", 4, AlwaysRight());
  Bench bench(MakeTestPlan(2), {&model});
  bench.plan.suite.cases[1].input = bench.plan.suite.cases[0].input;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(4));
  EXPECT_TRUE(Summarize(bench.plan, outcome.samples).complete());
}

TEST(RunPlan, MoreFollowsOnAllButTheLastRequest) {
  FakeModel a("a", 3, AlwaysRight());
  FakeModel b("b", 100, AlwaysRight());
  Bench bench(MakeTestPlan(3, 1, {"a", "b"}), {&a, &b});
  bench.Run();
  for (const FakeModel* model : {&a, &b}) {
    std::vector<bool> flags;
    for (const ChatRequest& request : model->requests) flags.push_back(request.more_follows);
    EXPECT_THAT(flags, ElementsAre(true, true, true, true, true, false));
  }
}

// A local model would wait for ever for what the verdict on this round may make needless.
TEST(RunPlan, TheLastRequestOfAJudgedRoundPromisesNothing) {
  FakeModel model("fake", 100, [](const ChatRequest& request, std::size_t number) {
    return number % 3 == 0 ? Text("wrong") : Right(request);
  });
  Bench bench(MakeTestPlan(3, 2), {&model});
  bench.plan.stop_when_decided = true;
  bench.Run();
  std::vector<bool> flags;
  for (const ChatRequest& request : model.requests) flags.push_back(request.more_follows);
  EXPECT_THAT(flags, ElementsAre(true, true, true, true, true, false, true, true, true, true, true, false));
}

TEST(RunPlan, ARetryThatStandsAlonePromisesNothing) {
  FakeModel model("fake", 1, [](const ChatRequest& request, std::size_t number) {
    return number == 0 ? Result<ChatResponse>(Overloaded()) : Right(request);
  });
  Bench bench(MakeTestPlan(1), {&model});
  bench.Run();
  ASSERT_THAT(model.requests, SizeIs(3));
  EXPECT_FALSE(model.requests.back().more_follows);
}

TEST(RunPlan, KeepsTheWindowFull) {
  FakeModel model("fake", 4, Hold());
  Bench bench(MakeTestPlan(4), {&model});
  bench.observer.on_progress = [&](const RunProgress& progress) {
    EXPECT_LE(progress.in_flight, 4U);
    if (model.held() == 4) model.AnswerHeld(Text("right 1"));
  };
  EXPECT_THAT(bench.Run().samples, SizeIs(8));
  EXPECT_EQ(model.max_held, 4U);
}

TEST(RunPlan, AJournalThatFailsEndsTheRun) {
  const TempFolder folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "samples.jsonl");
  FakeModel answering("a", 4, AlwaysRight());  // four answers wait to be taken when the first can't be stored
  FakeModel holding("b", 4, Hold());
  Bench bench(MakeTestPlan(5, 1, {"a", "b"}), {&answering, &holding});
  Result<Journal> journal = Journal::Reopen(folder.path(), bench.clock);
  ASSERT_TRUE(journal.ok());
  bench.input.journal = &*journal;
  const Result<RunOutcome> outcome = RunPlan(bench.input);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, AllOf(HasSubstr("samples.jsonl"), HasSubstr("No space left")));
  EXPECT_THAT(answering.requests, SizeIs(4));
  EXPECT_THAT(holding.cancels, ElementsAre(Scope::kRunning));
  EXPECT_EQ(holding.held(), 0U);
}

TEST(RunPlan, AJournalThatFailsForErrorsAndCachedSamplesToo) {
  const TempFolder folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "samples.jsonl");
  FakeModel model("fake", 4, [](const ChatRequest&, std::size_t) { return Overloaded(); });
  Bench bench(MakeTestPlan(2), {&model});
  Result<Journal> journal = Journal::Reopen(folder.path(), bench.clock);
  bench.input.journal = &*journal;
  EXPECT_FALSE(RunPlan(bench.input).ok());
  EXPECT_THAT(model.requests, SizeIs(4));
  Sample cached;
  cached.key = CellsOf(bench.plan)[0].key;
  bench.input.cached = {cached};
  EXPECT_FALSE(RunPlan(bench.input).ok());
  EXPECT_THAT(model.requests, SizeIs(4));
}

TEST(RunPlan, ModelsOfThisMachineRunOneAfterTheOther) {
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
  Bench together(MakeTestPlan(2, 1, {"a", "b"}), {&a, &b});
  together.Run();
  EXPECT_EQ(order, "abababab");
  order.clear();
  a.set_in_process();
  b.set_in_process();
  Bench in_turn(MakeTestPlan(2, 1, {"a", "b", "c"}), {&a, &b, &c});
  in_turn.Run();
  EXPECT_EQ(order, "acacacacbbbb");
}

TEST(RunPlan, UnknownChecksAreFoundBeforeAnythingIsAsked) {
  FakeModel model("fake", 1, AlwaysRight());
  Bench bench(MakeTestPlan(2), {&model});
  bench.plan.suite.cases[1].checks[0].type = "telepathy";
  const Result<RunOutcome> outcome = RunPlan(bench.input);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, AllOf(HasSubstr("case-2"), HasSubstr("telepathy")));
  EXPECT_THAT(model.requests, IsEmpty());
}

// With a model that has a thread of its own; this share of its attempts fails.
RunOutcome RunThreaded(double error, int cases, int rounds) {
  ThreadedModel model(64, [error](const ChatRequest& request) -> Result<ChatResponse> {
    const std::string draw = fmt::format("{} {}", WithSkill(request), request.simulation.at("attempt").get<int>());
    Rng rng(request.sampling.seed ^ SeedFromText(draw));
    if (rng.Uniform() < error) return Overloaded();
    return Right(request);
  });
  Plan plan = MakeTestPlan(cases, rounds);
  plan.students[0].identity = "sim:";  // such students are told the number of the attempt
  Bench bench(plan, {&model});
  bench.input.attempts = 20;
  return bench.Run();
}

TEST(RunPlan, ManyAnswersFromAnotherThread) {
  const RunOutcome outcome = RunThreaded(0.2, 10, 30);
  EXPECT_EQ(outcome.progress.done, 600U);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_GT(outcome.progress.retries, 60U);
  std::set<std::string> names;
  for (const Sample& sample : outcome.samples) {
    EXPECT_TRUE(sample.ok());
    names.insert(CellName(sample));
  }
  EXPECT_EQ(names.size(), 600U);
  const RunOutcome again = RunThreaded(0.2, 10, 30);
  ASSERT_EQ(again.samples.size(), outcome.samples.size());
  for (std::size_t i = 0; i < again.samples.size(); ++i) {
    EXPECT_EQ(again.samples[i].key, outcome.samples[i].key);
    EXPECT_EQ(again.samples[i].response.text, outcome.samples[i].response.text);
    EXPECT_EQ(again.samples[i].attempt, outcome.samples[i].attempt);
  }
}

TEST(RunPlan, EndsWhileTheModelsThreadIsStillHandingOver) {
  for (int i = 0; i < 200; ++i) EXPECT_EQ(RunThreaded(0.0, 1, 1).progress.done, 2U);
}

}  // namespace
}  // namespace upskill
