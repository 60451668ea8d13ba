// SPDX-License-Identifier: Apache-2.0
#include "model/sim.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Takes the answers of many requests, in the order in which they come.
class Answers {
 public:
  Model::Done Expect(int number) {
    return [this, number](Result<ChatResponse> response) {
      const std::lock_guard lock(mutex_);
      order_.push_back(number);
      responses_.push_back(std::move(response));
      wake_.notify_all();
    };
  }

  void WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return order_.size() >= count; });
  }

  std::vector<int> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

  std::vector<std::string> kinds() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> kinds;
    for (const auto& response : responses_) kinds.emplace_back(response ? "ok" : ErrorKindName(response.error().kind));
    return kinds;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<int> order_;
  std::vector<Result<ChatResponse>> responses_;
};

std::unique_ptr<Model> Make(const std::string& settings, int window = 64) {
  Result<std::unique_ptr<Model>> model = MakeSimModel(settings, window);
  EXPECT_TRUE(model.ok()) << settings;
  return model ? std::move(model).value() : nullptr;
}

ChatRequest Ask(const std::string& arm, std::uint64_t seed, int attempt = 0, const std::string& passing = "right") {
  ChatRequest request;
  request.system = "system";
  request.messages.push_back({Role::kUser, "question"});
  request.sampling.seed = seed;
  request.simulation = {{"arm", arm}, {"attempt", attempt}, {"passing_answer", passing}};
  return request;
}

int CountPasses(Model& model, const std::string& arm, int draws) {
  int passes = 0;
  for (int i = 0; i < draws; ++i) {
    const Result<ChatResponse> response = Generate(model, Ask(arm, static_cast<std::uint64_t>(i)));
    EXPECT_TRUE(response.ok());
    if (response && response->text == "right") ++passes;
  }
  return passes;
}

// One letter per request: r right, w wrong, e error.
std::string Outcomes(Model& model, int count, int attempt = 0) {
  std::string letters;
  for (int i = 0; i < count; ++i) {
    const Result<ChatResponse> response = Generate(model, Ask("baseline", static_cast<std::uint64_t>(i), attempt));
    letters += !response ? 'e' : (response->text == "right" ? 'r' : 'w');
  }
  return letters;
}

TEST(ParseSimSettings, Defaults) {
  const Result<SimSettings> settings = ParseSimSettings("");
  ASSERT_TRUE(settings.ok());
  EXPECT_DOUBLE_EQ(settings->base, 0.5);
  EXPECT_DOUBLE_EQ(settings->skill, 0.5);
  EXPECT_LT(settings->placebo, 0.0);
  EXPECT_LT(settings->previous, 0.0);
  EXPECT_DOUBLE_EQ(settings->error, 0.0);
  EXPECT_EQ(settings->seed, 0U);
  EXPECT_EQ(settings->latency_ms, 0);
}

TEST(ParseSimSettings, All) {
  const Result<SimSettings> settings = ParseSimSettings(
      "base=0.4,skill=0.85,placebo=0,previous=1,seed=7,latency-ms=200,error=0.05,skill-error=0.5,drift=-0.1");
  ASSERT_TRUE(settings.ok());
  EXPECT_DOUBLE_EQ(settings->base, 0.4);
  EXPECT_DOUBLE_EQ(settings->skill, 0.85);
  EXPECT_DOUBLE_EQ(settings->placebo, 0.0);
  EXPECT_DOUBLE_EQ(settings->previous, 1.0);
  EXPECT_DOUBLE_EQ(settings->error, 0.05);
  EXPECT_DOUBLE_EQ(settings->skill_error, 0.5);
  EXPECT_DOUBLE_EQ(settings->drift, -0.1);
  EXPECT_EQ(settings->seed, 7U);
  EXPECT_EQ(settings->latency_ms, 200);
}

TEST(ParseSimSettings, Errors) {
  for (const char* text :
       {"base=1.1", "base=-0.1", "base=nan", "base=inf", "base=", "base", "base=0.5x", "skill=half", "error=2",
        "placebo=-1", "latency-ms=-1", "latency-ms=1e9", "latency-ms=0.5", "seed=-1", "seed=7.5", "seed=1e300"}) {
    const Result<SimSettings> settings = ParseSimSettings(text);
    ASSERT_FALSE(settings.ok()) << text;
    EXPECT_EQ(settings.error().kind, ErrorKind::kInput);
    EXPECT_THAT(settings.error().message, HasSubstr("number from")) << text;
  }
  for (const char* text : {"speed=1", "=1", "base=0.5,,skill=1", "Base=1", " base=1"}) {
    const Result<SimSettings> settings = ParseSimSettings(text);
    ASSERT_FALSE(settings.ok()) << text;
    EXPECT_THAT(settings.error().message, AllOf(HasSubstr("unknown setting"), HasSubstr("latency-ms"))) << text;
  }
  EXPECT_FALSE(MakeSimModel("base=7", 1).ok());
}

TEST(ParseSimSettings, MessagesQuoteTheTextUnescaped) {
  EXPECT_THAT(ParseSimSettings("\x1b[2J=1").error().message, HasSubstr("'\x1b[2J'"));
  EXPECT_THAT(ParseSimSettings("base=\x1b").error().message, HasSubstr("base=\x1b is not"));
}

TEST(Sim, Info) {
  const auto model = Make("base=0.4,seed=3", 17);
  EXPECT_EQ(model->info().name, "sim:base=0.4,seed=3");
  EXPECT_THAT(model->info().identity, testing::StartsWith("sim:"));
  EXPECT_NE(model->info().identity, Make("base=0.4,seed=4")->info().identity);
  EXPECT_FALSE(model->info().in_process);
  EXPECT_EQ(model->Window(), 17);
}

TEST(Sim, SameSettingsGiveSameAnswers) {
  const std::string first = Outcomes(*Make("base=0.5,error=0.2,seed=7"), 200);
  EXPECT_EQ(Outcomes(*Make("base=0.5,error=0.2,seed=7"), 200), first);
  EXPECT_NE(Outcomes(*Make("base=0.5,error=0.2,seed=8"), 200), first);
  for (const char letter : {'r', 'w', 'e'}) EXPECT_THAT(first, HasSubstr(std::string(1, letter)));
}

TEST(Sim, AnswersDependOnArmMessageAndSeedOnly) {
  const auto model = Make("base=0.5,skill=0.5,seed=1");
  int arm_differs = 0;
  int message_differs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text = Generate(*model, Ask("baseline", seed))->text;
    ChatRequest other = Ask("baseline", seed);
    other.system = "another";
    other.sampling.temperature = 0.0;
    other.sampling.max_tokens = 3;
    EXPECT_EQ(Generate(*model, other)->text, text);
    if (Generate(*model, Ask("skill", seed))->text != text) ++arm_differs;
    other.messages[0].text = "another question";
    if (Generate(*model, other)->text != text) ++message_differs;
  }
  EXPECT_GT(arm_differs, 20);
  EXPECT_GT(message_differs, 20);
}

TEST(Sim, PassesWithTheProbabilityOfTheArm) {
  const auto model = Make("base=0.4,skill=0.85,placebo=0.1,seed=7");
  constexpr int kDraws = 2000;
  // Four standard deviations of 2,000 draws.
  EXPECT_NEAR(CountPasses(*model, "baseline", kDraws), 800, 88);
  EXPECT_NEAR(CountPasses(*model, "skill", kDraws), 1700, 64);
  EXPECT_NEAR(CountPasses(*model, "placebo", kDraws), 200, 54);
  EXPECT_NEAR(CountPasses(*model, "previous", kDraws), 800, 88);  // not set: as base
}

TEST(Sim, ACaseCanHaveSettingsOfItsOwn) {
  const auto model = Make("base=0,skill=0,seed=7");
  ChatRequest request = Ask("skill", 1);
  request.messages[0].text = "question [sim skill=1] that is easy with the skill";
  EXPECT_EQ(Generate(*model, request)->text, "right");
  request.simulation["arm"] = "baseline";
  EXPECT_EQ(Generate(*model, request)->text, "I do not know.");
  request.messages[0].text = "question [sim speed=1]";
  const Result<ChatResponse> unknown = Generate(*model, request);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(unknown.error().message, AllOf(HasSubstr("in a case"), HasSubstr("'speed'")));
}

TEST(Sim, RatesDriftWithTheRounds) {
  const auto model = Make("base=0,skill=1,drift=0.1");
  const auto answer = [&](const char* arm, int round) {
    ChatRequest request = Ask(arm, 1);
    request.simulation["round"] = round;
    return Generate(*model, request)->text;
  };
  EXPECT_EQ(answer("baseline", 0), "I do not know.");
  EXPECT_EQ(answer("baseline", 10), "right");
  EXPECT_EQ(answer("skill", 10), "right");
}

TEST(Sim, ErrorsOfTheSkillsArmOnly) {
  const auto model = Make("base=1,skill=1,skill-error=1");
  EXPECT_TRUE(Generate(*model, Ask("baseline", 1)).ok());
  EXPECT_EQ(Generate(*model, Ask("skill", 1)).error().kind, ErrorKind::kUnavailable);
}

TEST(Sim, CertainOutcomes) {
  EXPECT_EQ(CountPasses(*Make("base=1"), "baseline", 50), 50);
  EXPECT_EQ(CountPasses(*Make("base=0"), "baseline", 50), 0);
  EXPECT_EQ(Outcomes(*Make("base=1,error=1"), 20), std::string(20, 'e'));
}

TEST(Sim, ErrorsAreDrawnForEachAttempt) {
  const auto model = Make("base=1,error=0.5,seed=7");
  const std::string first = Outcomes(*model, 2000, 0);
  const std::string second = Outcomes(*model, 2000, 1);
  EXPECT_NEAR(static_cast<double>(std::count(first.begin(), first.end(), 'e')), 1000, 90);
  int both = 0;
  for (std::size_t i = 0; i < first.size(); ++i) both += first[i] == 'e' && second[i] == 'e' ? 1 : 0;
  EXPECT_NEAR(both, 500, 78);  // independent of each other
  const Result<ChatResponse> error = Generate(*Make("error=1"), Ask("baseline", 0));
  EXPECT_EQ(error.error().kind, ErrorKind::kUnavailable);
}

TEST(Sim, TheAnswerDoesNotDependOnTheAttempt) {
  const auto model = Make("base=0.5,seed=7");
  EXPECT_EQ(Outcomes(*model, 100, 0), Outcomes(*model, 100, 3));
}

TEST(Sim, UsageAndStopReason) {
  const Result<ChatResponse> response = Generate(*Make("base=1,latency-ms=1"), Ask("baseline", 0));
  ASSERT_TRUE(response.ok());
  EXPECT_GT(response->usage.input, 0);
  EXPECT_GT(response->usage.output, 0);
  EXPECT_EQ(response->usage.prompt(), response->usage.input);
  EXPECT_EQ(response->stop, StopReason::kEnd);
  EXPECT_DOUBLE_EQ(response->seconds, 0.001);
}

TEST(Sim, RejectsACaseWithoutPassingAnswer) {
  const Result<ChatResponse> response = Generate(*Make("base=1"), Ask("baseline", 0, 0, ""));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, HasSubstr("reference"));
}

TEST(Sim, AnswersInTheOrderOfTheRequests) {
  Answers answers;
  const auto model = Make("base=1,latency-ms=2");
  for (int i = 0; i < 5; ++i) model->Start(Ask("baseline", 0), answers.Expect(i));
  answers.WaitFor(5);
  EXPECT_THAT(answers.order(), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Sim, CancelEndsEachRequestOnce) {
  Answers answers;
  const auto model = Make("base=1,latency-ms=3600000");
  for (int i = 0; i < 100; ++i) model->Start(Ask("baseline", 0), answers.Expect(i));
  model->Cancel(Model::CancelScope::kWaiting);  // none waits: all are being worked on
  EXPECT_TRUE(answers.order().empty());
  model->Cancel(Model::CancelScope::kRunning);
  model->Cancel(Model::CancelScope::kRunning);
  EXPECT_THAT(answers.kinds(), AllOf(testing::SizeIs(100), Each("cancelled")));
  const std::vector<int> order = answers.order();
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 100U);
}

TEST(Sim, ContinuesAfterCancel) {
  const auto model = Make("base=1");
  model->Cancel(Model::CancelScope::kRunning);
  EXPECT_TRUE(Generate(*model, Ask("baseline", 0)).ok());
}

TEST(Sim, CancelWhileAnswering) {
  for (int round = 0; round < 20; ++round) {
    Answers answers;
    const auto model = Make("base=1");
    std::thread sender([&] {
      for (int i = 0; i < 50; ++i) model->Start(Ask("baseline", 0), answers.Expect(i));
    });
    model->Cancel(Model::CancelScope::kRunning);
    sender.join();
    answers.WaitFor(50);
    const std::vector<int> order = answers.order();
    EXPECT_EQ(order.size(), 50U);
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 50U);
  }
}

// What a student can do with the reference answers before it is known apart from what a skill says.
TEST(Sim, ReferenceAnswersHaveARateOfTheirOwn) {
  for (const bool able : {true, false}) {
    const auto model = Make(able ? "base=0,skill=body" : "base=1,skill=1,reference=0");
    ChatRequest request = Ask("skill", 1);
    request.system = "system\n\n<skill name=\"reference-answers\">\nright\n</skill>";
    const Result<ChatResponse> response = Generate(*model, request);
    ASSERT_TRUE(response.ok());
    EXPECT_EQ(response->text == "right", able);
  }
}

TEST(Sim, DestructionCancelsWhatIsInFlight) {
  Answers slow;
  Answers quick;
  {
    const auto waiting = Make("base=1,latency-ms=3600000");
    const auto answering = Make("base=1");
    for (int i = 0; i < 10; ++i) {
      waiting->Start(Ask("baseline", 0), slow.Expect(i));
      answering->Start(Ask("baseline", 0), quick.Expect(i));
    }
  }
  EXPECT_THAT(slow.kinds(), AllOf(testing::SizeIs(10), Each("cancelled")));
  EXPECT_THAT(quick.kinds(), AllOf(testing::SizeIs(10), Each(testing::AnyOf("ok", "cancelled"))));
}

TEST(StopReason, NamesRoundTrip) {
  for (const StopReason reason : {StopReason::kEnd, StopReason::kLength, StopReason::kRefusal}) {
    EXPECT_EQ(*StopReasonFromName(StopReasonName(reason)), reason);
  }
  EXPECT_FALSE(StopReasonFromName("End").ok());
}

}  // namespace
}  // namespace upskill
