// SPDX-License-Identifier: Apache-2.0
// Runs whose answers a judge decides about.
#include "eval/run/judging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "eval/run/runner.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kMet = R"({"quotes": ["right"], "reason": "It says so.", "met": true})";
constexpr const char* kNotMet = R"({"quotes": [], "reason": "It doesn't.", "met": false})";

// A plan whose cases are decided by a judge alone.
Plan JudgedPlan(int cases, int rounds = 1) {
  Plan plan = MakeTestPlan(cases, rounds);
  for (Case& test_case : plan.suite.cases) {
    CheckSpec check;
    check.type = "judge";
    check.options["rubric"] = "It is right.";
    test_case.checks = {check};
  }
  plan.judge = RunJudge{"fake-judge", "judge", "fake:judge", 1, std::nullopt};
  return plan;
}

Result<ChatResponse> RightWithSkill(const ChatRequest& request) {
  return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
}

Result<ChatResponse> VerdictOn(const ChatRequest& request) {
  const bool right = request.messages.at(0).text.find("right ") != std::string::npos;
  ChatResponse response = Text(right ? kMet : kNotMet);
  response.cost_usd = 0.01;
  return response;
}

struct Bench : RunnerBench {
  Bench(Plan of_run, FakeModel& student, FakeModel& judge) : RunnerBench(std::move(of_run), {&student}) {
    input.judge = &judge;
  }
};

FakeModel HelpedStudent() {
  return FakeModel("fake", 4, [](const ChatRequest& request, std::size_t) { return RightWithSkill(request); });
}
FakeModel Judge() {
  return FakeModel("judge", 2, [](const ChatRequest& request, std::size_t) { return VerdictOn(request); });
}

TEST(Judging, DecidesAboutEveryAnswer) {
  FakeModel student = HelpedStudent();
  FakeModel judge = Judge();
  Bench bench(JudgedPlan(3, 2), student, judge);
  const RunOutcome outcome = bench.Run();
  ASSERT_THAT(outcome.data.samples(), SizeIs(12));
  for (const SamplePtr& sample : outcome.data.samples()) {
    EXPECT_EQ(sample->passed(), sample->arm == Arm::kSkill);
    ASSERT_THAT(sample->judgments, SizeIs(1));
    EXPECT_EQ(sample->judgments[0].cost_usd, 0.01);
  }
  EXPECT_EQ(outcome.progress.done, 12U);
  EXPECT_NEAR(outcome.progress.cost_usd, 0.12, 1e-9);
  EXPECT_LE(judge.max_held, 2U);
  for (const ChatRequest& request : judge.requests) {
    EXPECT_THAT(request.messages.at(0).text, Not(HasSubstr("Answer right."))) << "it must not see the skill";
    EXPECT_THAT(request.system, Not(HasSubstr("<skill")));
  }
}

TEST(Judging, WhatItSaidOfReusedAnswersIsNotAskedAgain) {
  FakeModel student = HelpedStudent();
  FakeModel judge = Judge();
  std::vector<Sample> answers;
  {
    Bench bench(JudgedPlan(2), student, judge);
    const RunOutcome outcome = bench.Run();
    for (const SamplePtr& sample : outcome.data.samples()) answers.push_back(*SampleFromJson(SampleToJson(*sample)));
  }
  const std::size_t before = judge.requests.size();
  Bench again(JudgedPlan(2), student, judge);
  again.input.cached = answers;
  EXPECT_EQ(again.Run().progress.reused, 4U);
  EXPECT_EQ(judge.requests.size(), before);
  FakeModel other("other", 2, [](const ChatRequest& request, std::size_t) { return VerdictOn(request); });
  Bench third(JudgedPlan(2), student, other);
  third.input.cached = answers;
  third.Run();
  EXPECT_THAT(other.requests, SizeIs(4)) << "another judge has its own opinion";
}

TEST(Judging, AsksAgainForAVerdictThatCannotBeRead) {
  FakeModel student = HelpedStudent();
  FakeModel judge("judge", 1, [](const ChatRequest& request, std::size_t) -> Result<ChatResponse> {
    return request.messages.size() == 1 ? Result<ChatResponse>(Text("Well, yes.")) : VerdictOn(request);
  });
  Bench bench(JudgedPlan(1), student, judge);
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(judge.requests, SizeIs(4));
  for (const SamplePtr& sample : outcome.data.samples()) {
    EXPECT_TRUE(sample->ok());
    EXPECT_EQ(sample->judgments.at(0).usage.output, 6) << "both answers were paid for";
  }
}

TEST(Judging, AnAnswerThatIsNotJudgedIsAnErrorAndKept) {
  const TempFolder folder;
  FakeModel student = HelpedStudent();
  FakeModel mute("judge", 2, [](const ChatRequest&, std::size_t) { return Result<ChatResponse>(Text("no JSON")); });
  Bench bench(JudgedPlan(1), student, mute);
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  const RunOutcome outcome = bench.Run();
  EXPECT_EQ(outcome.progress.errors, 2U);
  for (const SamplePtr& sample : outcome.data.samples())
    EXPECT_THAT(sample->error->message, HasSubstr("the answer could not be judged: "));
  EXPECT_THAT(student.requests, SizeIs(2));

  FakeModel judge = Judge();
  Bench resumed(bench.plan, student, judge);
  resumed.input.resumed = ReadJournal(journal->folder())->samples;
  ASSERT_THAT(resumed.input.resumed, SizeIs(4)) << "each before it was judged, and after that";
  const RunOutcome second = resumed.Run();
  EXPECT_THAT(student.requests, SizeIs(2)) << "its answers were paid for and are only judged";
  EXPECT_THAT(judge.requests, SizeIs(2));
  for (const SamplePtr& sample : second.data.samples()) EXPECT_EQ(sample->passed(), sample->arm == Arm::kSkill);
  EXPECT_EQ(second.progress.errors, 0U);
}

TEST(Judging, AFailingJudgeEndsTheRunBeforeMoreIsPaid) {
  FakeModel student("fake", 1, [](const ChatRequest& request, std::size_t) { return RightWithSkill(request); });
  FakeModel judge("judge", 1, [](const ChatRequest&, std::size_t) {
    return Result<ChatResponse>(Error{ErrorKind::kPermanent, "401 invalid key"});
  });
  Bench bench(JudgedPlan(20), student, judge);
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(outcome.stopped_models, ElementsAre("judge (judge): 401 invalid key"));
  EXPECT_THAT(judge.requests, SizeIs(3));
  EXPECT_LE(student.requests.size(), 5U);
}

TEST(Judging, CountsUnderTheCap) {
  FakeModel student("fake", 1, [](const ChatRequest& request, std::size_t) {
    ChatResponse response = *RightWithSkill(request);
    response.cost_usd = 0.0;
    return Result<ChatResponse>(response);
  });
  student.set_price({});
  FakeModel judge("judge", 1, [](const ChatRequest& request, std::size_t) {
    ChatResponse response = *VerdictOn(request);
    response.usage.input = 100;
    response.cost_usd = 1.0;
    return Result<ChatResponse>(response);
  });
  judge.set_price({0.0, 0.0, 0.0, 0.0, "2026-11-21", 1.0});
  Bench bench(JudgedPlan(10), student, judge);
  bench.input.limits.max_cost_usd = 3.5;
  const RunOutcome outcome = bench.Run();
  EXPECT_THAT(judge.requests, SizeIs(3));
  EXPECT_THAT(outcome.exhausted, HasSubstr("$3"));
  EXPECT_EQ(outcome.progress.errors, 0U) << "what wasn't judged stays open";
}

// A run that ends by force, for example by kill -9, has the answers in its journal.
TEST(Judging, AnswersAreWrittenBeforeTheyAreJudged) {
  const TempFolder folder;
  FakeModel student = HelpedStudent();
  Result<Journal> journal(Error{ErrorKind::kInput, ""});
  std::vector<Sample> stored;
  FakeModel judge("judge", 1, [&](const ChatRequest& request, std::size_t) {
    if (stored.empty()) stored = ReadJournal(journal->folder())->samples;
    return RightWithSkill(request);
  });
  Bench bench(JudgedPlan(1), student, judge);
  journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.Run();
  ASSERT_FALSE(stored.empty());
  EXPECT_TRUE(stored[0].keeps_answer);

  FakeModel second = Judge();
  Bench resumed(bench.plan, student, second);
  resumed.input.resumed = {stored[0]};
  const std::size_t asked = student.requests.size();
  resumed.Run();
  EXPECT_EQ(student.requests.size(), asked + 1) << "only the other cell is asked";
}

TEST(Judging, StoppingKeepsAnswersThatWaitForTheJudge) {
  const TempFolder folder;
  FakeModel student = HelpedStudent();
  FakeModel judge("judge", 1, Hold());
  Bench bench(JudgedPlan(2), student, judge);
  Result<Journal> journal = Journal::Create(folder.path(), bench.plan, bench.clock);
  bench.input.journal = &*journal;
  bench.observer.on_progress = [&](const RunProgress& progress) {
    if (progress.in_flight == 4) bench.stop = 2;
  };
  const RunOutcome outcome = bench.Run();
  EXPECT_TRUE(outcome.interrupted);
  const std::vector<Sample> stored = ReadJournal(journal->folder())->samples;
  ASSERT_THAT(stored, SizeIs(8)) << "each before it was judged, and when the run was stopped";
  for (const Sample& sample : stored) {
    EXPECT_TRUE(sample.keeps_answer);
    EXPECT_TRUE(sample.will_retry);
    EXPECT_NE(sample.response.text, "");
  }
}

}  // namespace
}  // namespace upskill
