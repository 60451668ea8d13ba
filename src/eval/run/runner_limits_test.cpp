// SPDX-License-Identifier: Apache-2.0
// A run keeps to its limits with every kind of model, and always ends.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "eval/run/runner.h"
#include "model/sim.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kLimitedCases = 12;
constexpr int kLimitedRounds = 3;
constexpr std::size_t kLimitedCells = 2 * kLimitedCases * kLimitedRounds;
constexpr std::int64_t kWorstTokens = 250;  // above what any request of these runs may use
const Price kSubjectPrice{2.0, 20.0, 0.2, 2.5, "2026-11-21"};

// An answer whose size depends on the question alone.
Result<ChatResponse> Sized(const ChatRequest& request) {
  ChatResponse response = Right(request).value();
  Rng rng(request.sampling.seed ^ SeedFromText(request.system + request.messages[0].text));
  response.usage.input = static_cast<std::int64_t>(request.system.size() + request.messages[0].text.size()) / 4;
  response.usage.output = 1 + static_cast<std::int64_t>(rng.Uniform() * (request.sampling.max_tokens - 1));
  response.cost_usd = CostUsd(kSubjectPrice, response.usage);
  return response;
}

// The same without a cost, like models in process.
Result<ChatResponse> SizedAndFree(const ChatRequest& request) {
  Result<ChatResponse> response = Sized(request);
  response->cost_usd.reset();
  return response;
}

// Ends a run that makes no progress, so that a test fails instead of hanging.
class Watchdog {
 public:
  explicit Watchdog(StopFlag& stop) : stop_(stop) {}

  void Look(const RunProgress& progress) {
    const std::size_t now = progress.done + progress.errors + progress.retries;
    quiet_ = now == last_ ? quiet_ + 1 : 0;
    last_ = now;
    if (quiet_ < kQuietReports) return;
    bit_ = true;
    stop_ = 2;
  }
  bool bit() const { return bit_; }

 private:
  static constexpr int kQuietReports = 25;  // of at most 200 ms each

  StopFlag& stop_;
  std::size_t last_ = 0;
  int quiet_ = 0;
  bool bit_ = false;
};

// A kind of model, and how its requests get their answers.
struct Subject {
  std::unique_ptr<Model> model;
  std::function<void(const RunProgress&)> on_progress;  // on the runner's thread; may be empty
  bool costs = true;
};

Subject EngineSubject() {
  auto model = std::make_unique<EngineLikeModel>(4, SizedAndFree);
  model->set_in_process();
  return {std::move(model), {}, false};
}

// There is no such model yet, but nothing forbids one.
Subject PricedEngineSubject() {
  auto model = std::make_unique<EngineLikeModel>(4, Sized);
  model->set_price(kSubjectPrice);
  return {std::move(model), {}, true};
}

// Answers one request after the other, in any order.
Subject NetworkSubject() {
  auto model = std::make_unique<FakeModel>("net", 8, Hold());
  model->set_price(kSubjectPrice);
  model->set_warm_up();
  FakeModel* const fake = model.get();
  const auto answer = [fake, rng = Rng(7)](const RunProgress&) mutable {
    if (fake->held() > 0) fake->AnswerHeldAt(rng.Next() % fake->held(), Sized);
  };
  return {std::move(model), answer, true};
}

// Collects requests until no more follow, then answers all of them, the last one first.
Subject BatchSubject() {
  auto model = std::make_unique<FakeModel>("batch", 100'000, Hold());
  model->set_price(kSubjectPrice);
  FakeModel* const fake = model.get();
  const auto answer = [fake](const RunProgress&) {
    while (fake->held() > 0) fake->AnswerHeldAt(fake->held() - 1, Sized);
  };
  return {std::move(model), answer, true};
}

Subject SimulatedSubject() {
  Result<std::unique_ptr<Model>> model = MakeSimModel("base=0.4,skill=0.8,seed=3,cost=0.001", 16);
  CHECK(model.ok());
  return {std::move(model).value(), {}, true};
}

struct ModelKind {
  const char* name;
  Subject (*make)();
};

struct UsedUp {
  RunOutcome outcome;
  std::int64_t tokens = 0;
  double usd = 0.0;
  bool hung = false;
};

UsedUp RunWithin(const ModelKind& kind, const RunLimits& limits, bool stop_when_decided = false) {
  const Subject subject = kind.make();
  Plan plan = MakeTestPlan(kLimitedCases, kLimitedRounds);
  plan.sampling.max_tokens = 40;
  plan.stop_when_decided = stop_when_decided;
  plan.students[0].identity = subject.model->info().identity;
  RunnerBench bench(std::move(plan), {subject.model.get()});
  bench.input.limits = limits;
  Watchdog watchdog(bench.stop);
  bench.observer.on_progress = [&](const RunProgress& progress) {
    watchdog.Look(progress);
    if (subject.on_progress) subject.on_progress(progress);
  };
  UsedUp used;
  used.outcome = bench.Run();
  for (const SamplePtr& sample : used.outcome.data.samples()) {
    used.tokens += sample->response.usage.prompt() + sample->response.usage.output;
    used.usd += sample->response.cost_usd.value_or(0.0);
  }
  used.hung = watchdog.bit();
  return used;
}

std::string KindName(const testing::TestParamInfo<ModelKind>& kind) { return kind.param.name; }

class RunLimitsOf : public testing::TestWithParam<ModelKind> {};

INSTANTIATE_TEST_SUITE_P(EveryKind, RunLimitsOf,
                         testing::Values(ModelKind{"engine", EngineSubject},
                                         ModelKind{"pricedengine", PricedEngineSubject},
                                         ModelKind{"network", NetworkSubject}, ModelKind{"batch", BatchSubject},
                                         ModelKind{"simulated", SimulatedSubject}),
                         KindName);

TEST_P(RunLimitsOf, UnreachedLimitsChangeNothing) {
  RunLimits tokens;
  tokens.max_tokens = 1'000'000;
  RunLimits dollars;
  dollars.max_cost_usd = 100.0;
  RunLimits both = tokens;
  both.max_cost_usd = dollars.max_cost_usd;
  for (const RunLimits& limits : {RunLimits{}, tokens, dollars, both}) {
    const UsedUp used = RunWithin(GetParam(), limits);
    EXPECT_FALSE(used.hung);
    EXPECT_EQ(used.outcome.progress.done, kLimitedCells);
    EXPECT_EQ(used.outcome.exhausted, "");
    EXPECT_THAT(used.outcome.caveats, IsEmpty());
  }
}

TEST_P(RunLimitsOf, TheTokenLimitIsUsedUpAndNeverExceeded) {
  const std::int64_t all = RunWithin(GetParam(), {}).tokens;
  for (const std::int64_t share : {1, 3}) {
    RunLimits limits;
    limits.max_tokens = all * share / 4;
    const UsedUp used = RunWithin(GetParam(), limits);
    EXPECT_FALSE(used.hung);
    EXPECT_LE(used.tokens, *limits.max_tokens);
    EXPECT_GT(used.tokens, *limits.max_tokens - kWorstTokens);
    EXPECT_LT(used.outcome.progress.done, kLimitedCells);
    EXPECT_THAT(used.outcome.exhausted, HasSubstr("tokens used, and the next answer may take"));
    EXPECT_FALSE(used.outcome.interrupted);
  }
}

TEST_P(RunLimitsOf, TheCostLimitIsUsedUpAndNeverExceeded) {
  const double all = RunWithin(GetParam(), {}).usd;
  for (const double share : {0.25, 0.75}) {
    RunLimits limits;
    limits.max_cost_usd = std::max(all * share, 1e-9);
    const UsedUp used = RunWithin(GetParam(), limits);
    EXPECT_FALSE(used.hung);
    if (all == 0.0) {
      EXPECT_EQ(used.outcome.progress.done, kLimitedCells) << "a model in process costs nothing";
      continue;
    }
    EXPECT_LE(used.usd, *limits.max_cost_usd * (1 + 1e-9));  // sums of floating-point numbers
    EXPECT_GT(used.usd, *limits.max_cost_usd - 0.003);
    EXPECT_LT(used.outcome.progress.done, kLimitedCells);
    EXPECT_THAT(used.outcome.exhausted, HasSubstr("spent, and the next answer may cost"));
  }
}

TEST_P(RunLimitsOf, ALimitBelowOneRequestSendsNone) {
  RunLimits limits;
  limits.max_tokens = 20;
  const UsedUp used = RunWithin(GetParam(), limits);
  EXPECT_FALSE(used.hung);
  EXPECT_EQ(used.outcome.progress.done, 0U);
  EXPECT_THAT(used.outcome.exhausted, HasSubstr("0 of 20 tokens used"));
}

TEST_P(RunLimitsOf, LimitsHoldWhenRoundsAreJudged) {
  for (const std::int64_t limit : {500, 1'000'000}) {
    RunLimits limits;
    limits.max_tokens = limit;
    const UsedUp used = RunWithin(GetParam(), limits, true);
    EXPECT_FALSE(used.hung);
    EXPECT_LE(used.tokens, limit);
    if (limit == 500) {
      EXPECT_THAT(used.outcome.exhausted, HasSubstr("of 500 tokens used"));
    }
    if (limit == 1'000'000) {
      EXPECT_EQ(used.outcome.exhausted, "");
    }
  }
}

TEST_P(RunLimitsOf, TheTimeLimitEndsARun) {
  RunLimits limits;
  limits.max_tokens = 1'000'000;
  limits.timeout = std::chrono::minutes(4);  // the clock advances by 10 seconds with every reading
  const UsedUp used = RunWithin(GetParam(), limits);
  EXPECT_FALSE(used.hung);
  EXPECT_THAT(used.outcome.exhausted, AnyOf("", "the time limit of 4:00 was reached"));
}

// With the limits that make the engine wait for requests that may never come.
RunOutcome RunEngine(EngineLikeModel& model, RunnerBench& bench, bool& hung) {
  bench.input.limits.max_tokens = 2'500;
  bench.plan.sampling.max_tokens = 40;
  model.set_in_process();
  Watchdog watchdog(bench.stop);
  const auto inner = bench.observer.on_progress;
  bench.observer.on_progress = [&](const RunProgress& progress) {
    watchdog.Look(progress);
    if (inner) inner(progress);
  };
  RunOutcome outcome = bench.Run();
  bench.observer.on_progress = inner;
  hung = watchdog.bit();
  return outcome;
}

TEST(RunPlanLimits, AnEngineIsNotKeptWaitingWhileRequestsFail) {
  EngineLikeModel model(4, [](const ChatRequest& request) -> Result<ChatResponse> {
    const std::string draw = fmt::format("{}{}", WithSkill(request), request.simulation.value("attempt", 0));
    Rng rng(request.sampling.seed ^ SeedFromText(draw));
    if (rng.Uniform() < 0.3) return Overloaded();
    return SizedAndFree(request);
  });
  RunnerBench bench(MakeTestPlan(kLimitedCases, kLimitedRounds), {&model});
  bench.plan.students[0].identity = "sim:";  // such students see the number of the attempt
  bool hung = false;
  const RunOutcome outcome = RunEngine(model, bench, hung);
  EXPECT_FALSE(hung);
  EXPECT_GT(outcome.progress.retries, 0U);
  EXPECT_THAT(outcome.exhausted, HasSubstr("of 2,500 tokens"));
}

TEST(RunPlanLimits, AnEngineIsNotKeptWaitingByTheUser) {
  for (const std::size_t when : {1U, 5U, 9U}) {
    EngineLikeModel model(4, SizedAndFree);
    RunnerBench bench(MakeTestPlan(kLimitedCases, kLimitedRounds), {&model});
    bench.observer.on_progress = [&](const RunProgress& progress) {
      if (progress.done >= when && bench.stop == 0) bench.stop = 1;
    };
    bool hung = false;
    const RunOutcome outcome = RunEngine(model, bench, hung);
    EXPECT_FALSE(hung);
    EXPECT_TRUE(outcome.interrupted);
    EXPECT_LT(outcome.progress.done, kLimitedCells);
  }
}

TEST(RunPlanLimits, AStoppedEngineIsNotKeptWaiting) {
  EngineLikeModel model(4, [](const ChatRequest&) { return Error{ErrorKind::kPermanent, "no memory"}; });
  RunnerBench bench(MakeTestPlan(kLimitedCases, kLimitedRounds), {&model});
  bool hung = false;
  EXPECT_THAT(RunEngine(model, bench, hung).stopped_models, ElementsAre("fake: no memory"));
  EXPECT_FALSE(hung);
}

TEST(RunPlanLimits, AnEngineIsNotKeptWaitingForReusedCells) {
  EngineLikeModel first(4, SizedAndFree);
  bool hung = false;
  RunnerBench before(MakeTestPlan(kLimitedCases, kLimitedRounds), {&first});
  const RunOutcome part = RunEngine(first, before, hung);
  EXPECT_FALSE(hung);
  EngineLikeModel second(4, SizedAndFree);
  RunnerBench bench(MakeTestPlan(kLimitedCases, kLimitedRounds), {&second});
  for (const SamplePtr& sample : part.data.samples()) bench.input.resumed.push_back(*sample);
  const RunOutcome outcome = RunEngine(second, bench, hung);
  EXPECT_FALSE(hung);
  EXPECT_GT(outcome.progress.done, part.progress.done) << "each run has the whole limit";
}

// Several runs, or a run and the teacher of a generation, can share one budget.
TEST(RunPlanLimits, ABudgetIsSharedByRuns) {
  RunLimits limits;
  limits.max_tokens = 3'000;
  Budget budget(limits);
  std::int64_t tokens = 0;
  for (int i = 0; i < 3; ++i) {
    FakeModel model("fake", 4, [](const ChatRequest& request, std::size_t) { return Sized(request); });
    RunnerBench bench(MakeTestPlan(6), {&model});
    bench.plan.sampling.max_tokens = 40;
    bench.input.budget = &budget;
    const RunOutcome outcome = bench.Run();
    for (const SamplePtr& sample : outcome.data.samples())
      tokens += sample->response.usage.prompt() + sample->response.usage.output;
    EXPECT_EQ(budget.spent().tokens, tokens);
    EXPECT_EQ(budget.reserved().tokens, 0);
  }
  budget.Charge({3'000 - tokens, 0.0});
  FakeModel model("fake", 4, AlwaysRight());
  RunnerBench bench(MakeTestPlan(6), {&model});
  bench.input.budget = &budget;
  EXPECT_THAT(bench.Run().exhausted, HasSubstr("3,000 of 3,000 tokens used"));
  EXPECT_THAT(model.requests, IsEmpty());
}

TEST(RunPlanLimits, ASmallerRequestOfAnotherModelStillFits) {
  FakeModel large("large", 4, [](const ChatRequest& request, std::size_t) { return Sized(request); });
  large.set_price({1'000.0, 1'000.0, 0.0, 0.0, ""});
  FakeModel small("small", 4, [](const ChatRequest& request, std::size_t) { return Sized(request); });
  small.set_price(kSubjectPrice);
  RunnerBench bench(MakeTestPlan(3, 1, {"large", "small"}), {&large, &small});
  bench.plan.sampling.max_tokens = 40;
  bench.input.limits.max_cost_usd = 0.05;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(large.requests, IsEmpty());
  EXPECT_EQ(outcome.progress.done, 6U);
  EXPECT_THAT(outcome.exhausted, HasSubstr("spent, and the next answer may cost"));
}

}  // namespace
}  // namespace upskill
