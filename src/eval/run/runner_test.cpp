// SPDX-License-Identifier: Apache-2.0
#include "eval/run/runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "eval/verdict/summary.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "support/sample_fixture.h"
#include "util/rng.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RunPlan, AnswersAreCheckedAndJournaled) {
  const TempFolder folder;
  FakeModel model("fake", 3, [](const ChatRequest& request, std::size_t) {
    return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
  });
  RunnerBench bench(MakeTestPlan(3, 2), {&model});
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  const RunOutcome outcome = bench.Run();

  const std::vector<Cell> cells = CellsOf(bench.plan);
  const SampleList samples = outcome.data.samples();
  ASSERT_THAT(samples, SizeIs(12));
  EXPECT_THAT(model.requests, SizeIs(12));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Sample& sample = *samples[i];
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
  const RunSummary summary = Summarize(RunData(bench.plan, content->samples));
  EXPECT_TRUE(summary.complete());
  EXPECT_DOUBLE_EQ(*summary.students[0].lift, 1.0);
}

TEST(RunPlan, SendsCellsInOrder) {
  FakeModel model("fake", 2, AlwaysRight());
  RunnerBench bench(MakeTestPlan(2), {&model});
  bench.Run();
  std::vector<std::string> sent;
  for (const ChatRequest& request : model.requests)
    sent.push_back(request.messages[0].text + (WithSkill(request) ? " +" : ""));
  EXPECT_THAT(sent, ElementsAre("question 1", "question 1 +", "question 2", "question 2 +"));
}

TEST(RunPlan, ResumedAndCachedCellsAreNotRequestedAgain) {
  const TempFolder folder;
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(3), {&model});
  const std::vector<Cell> cells = CellsOf(bench.plan);
  FakeModel first("fake", 4, AlwaysRight());
  const RunOutcome before = RunnerBench(MakeTestPlan(3), {&first}).Run();

  const SampleList known = before.data.samples();
  bench.input.resumed = {*known[0], *known[1], *known[2]};
  bench.input.resumed[1].error = Overloaded();        // requested again
  bench.input.resumed[2].key = std::string(64, '0');  // of another request: requested again
  bench.input.resumed[0].response.text = "as it was";
  bench.input.cached = {*known[3], *known[4]};
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
  ASSERT_THAT(outcome.data.samples(), SizeIs(6));
  EXPECT_EQ(outcome.data.samples()[0]->response.text, "as it was");
  EXPECT_EQ(outcome.data.samples()[3]->cached_from, "earlier");
  EXPECT_EQ(outcome.data.samples()[3]->case_id, "case-2");
  EXPECT_TRUE(outcome.data.samples()[3]->passed());  // checked again
  EXPECT_FALSE(outcome.data.samples()[4]->passed());
  EXPECT_EQ(outcome.progress.reused, 3U);
  EXPECT_EQ(outcome.progress.done, 6U);
  EXPECT_EQ(outcome.progress.output_tokens, 9);  // reused answers cost none
  const std::vector<Sample> stored = ReadJournal(journal->folder())->samples;
  EXPECT_THAT(stored, SizeIs(5));  // all but the resumed one, which is already in the journal
  EXPECT_EQ(stored[0].cached_from, "earlier");
  EXPECT_TRUE(stored[2].cached_from.empty());
}

// Whatever is stored of an answer, but for what tells its cell and attempt, and its checks, which run again.
TEST(RunPlan, KeepsAllFieldsOfAReusedAnswer) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(1), {&model});
  Sample cached = FullSample();
  cached.key = CellsOf(bench.plan)[0].key;
  cached.failed_before = {ErrorCause::kTimeout};
  cached.cut_from = 9'000'000;
  cached.judgments = {{"judgment", {}, {}, 0.5, 2.0}};
  bench.input.cached = {cached};
  const RunOutcome outcome = bench.Run();
  const auto of_the_answer = [](const Sample& sample) {
    Json json = SampleToJson(sample);
    for (const char* name : {"model", "arm", "case", "round", "attempt", "time", "passed", "checks"}) json.erase(name);
    return json;
  };
  const SamplePtr reused = outcome.data.samples()[0];
  EXPECT_EQ(of_the_answer(*reused), of_the_answer(cached));
  EXPECT_EQ(reused->student, "fake");
  EXPECT_EQ(reused->arm, Arm::kBaseline);
  EXPECT_EQ(reused->case_id, "case-1");
  EXPECT_EQ(reused->round, 0);
  EXPECT_EQ(reused->attempt, 0);
  EXPECT_NE(reused->time, cached.time);
  EXPECT_THAT(reused->checks, SizeIs(1));
}

TEST(RunPlan, NothingIsRequestedWhenAllIsAnswered) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(2), {&model});
  const RunOutcome before = RunnerBench(MakeTestPlan(2), {&model}).Run();
  for (const SamplePtr& sample : before.data.samples()) bench.input.resumed.push_back(*sample);
  model.requests.clear();
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, IsEmpty());
  EXPECT_THAT(outcome.data.samples(), SizeIs(4));
  EXPECT_EQ(outcome.progress.reused, 4U);
}

TEST(RunPlan, CasesWithEqualInputsAreBothRequested) {
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(2), {&model});
  bench.plan.suite.cases[1].input = bench.plan.suite.cases[0].input;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(model.requests, SizeIs(4));
  EXPECT_TRUE(Summarize(outcome.data).complete());
}

TEST(RunPlan, UnusableChecksAreFoundBeforeAnythingIsSent) {
  FakeModel model("fake", 1, AlwaysRight());
  RunnerBench bench(MakeTestPlan(2), {&model});
  bench.plan.suite.cases[1].checks[0] = {"regex", {}, "("};
  const Result<RunOutcome> outcome = RunPlan(bench.input);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, AllOf(HasSubstr("case 2"), HasSubstr("regex")));
  EXPECT_THAT(model.requests, IsEmpty());
}

// A run with a model on its own thread; this share of its attempts fails.
RunOutcome RunThreaded(double error, int cases, int rounds) {
  ThreadedModel model(64, [error](const ChatRequest& request) -> Result<ChatResponse> {
    const std::string draw = fmt::format("{} {}", WithSkill(request), request.simulation.at("attempt").get<int>());
    Rng rng(request.sampling.seed ^ SeedFromText(draw));
    if (rng.Uniform() < error) return Overloaded();
    return Right(request);
  });
  Plan plan = MakeTestPlan(cases, rounds);
  plan.students[0].identity = "sim:";  // such students see the number of the attempt
  RunnerBench bench(plan, {&model});
  bench.input.attempts = 20;
  return bench.Run();
}

TEST(RunPlan, ManyAnswersFromAnotherThread) {
  const RunOutcome outcome = RunThreaded(0.2, 10, 30);
  EXPECT_EQ(outcome.progress.done, 600U);
  EXPECT_EQ(outcome.progress.errors, 0U);
  EXPECT_GT(outcome.progress.retries, 60U);
  std::set<std::string> names;
  for (const SamplePtr& sample : outcome.data.samples()) {
    EXPECT_TRUE(sample->ok());
    names.insert(CellName(*sample));
  }
  EXPECT_EQ(names.size(), 600U);
  const RunOutcome again = RunThreaded(0.2, 10, 30);
  const SampleList first = outcome.data.samples();
  const SampleList second = again.data.samples();
  ASSERT_EQ(second.size(), first.size());
  for (std::size_t i = 0; i < second.size(); ++i) {
    EXPECT_EQ(second[i]->key, first[i]->key);
    EXPECT_EQ(second[i]->response.text, first[i]->response.text);
    EXPECT_EQ(second[i]->attempt, first[i]->attempt);
  }
}

TEST(RunPlan, EndsWhileTheModelsThreadStillDelivers) {
  for (int i = 0; i < 200; ++i) EXPECT_EQ(RunThreaded(0.0, 1, 1).progress.done, 2U);
}

TEST(RunPlan, SaysThatAServerNowServesAnotherModel) {
  const auto by = [](const std::string& model) {
    ChatResponse response = Text("right 1");
    response.served_model = model;
    return response;
  };
  FakeModel model("fake", 2,
                  [&](const ChatRequest&, std::size_t) { return std::optional<Result<ChatResponse>>(by("m-2")); });
  RunnerBench bench(MakeTestPlan(2), {&model});
  Sample cached;
  cached.key = CellsOf(bench.plan)[0].key;
  cached.cached_from = "2026_11_21_10_12_33-abcd";
  cached.response = by("m-2");
  bench.input.cached = {cached};
  EXPECT_THAT(bench.Run().caveats, IsEmpty());
  bench.input.cached[0].response = by("m-1");
  EXPECT_THAT(bench.Run().caveats,
              ElementsAre("fake: the server answers as 'm-2' now, but reused answers are by 'm-1'; a new run with "
                          "--refresh asks again"));
}

}  // namespace
}  // namespace upskill
