// SPDX-License-Identifier: Apache-2.0
#include "teach/teacher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/fake_model.h"
#include "support/fake_teacher.h"
#include "support/stepping_clock.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const Json kSchema = {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}};

TeacherCall Call(const std::string& prompt, int attempt = 0) { return {"stage", "system", prompt, kSchema, attempt}; }

Error Gone() { return Error{ErrorKind::kUnavailable, "gone"}; }

TEST(Teacher, AnEqualCallIsPaidForOnce) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t number) { return fmt::format("{{\"n\": {}}}", number); });
  {
    Result<Teacher> teacher = Teacher::Open(model, file);
    ASSERT_TRUE(teacher.ok());
    EXPECT_EQ(teacher->Ask(Call("a"))->at("n"), 0);
    EXPECT_EQ(teacher->Ask(Call("a"))->at("n"), 0);
    EXPECT_EQ(teacher->Ask(Call("a", 1))->at("n"), 1);
    EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.02);
  }
  std::ofstream(file, std::ios::app) << R"({"key": "torn)";
  Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->Ask(Call("a"))->at("n"), 0);
  EXPECT_EQ(again->Ask(Call("a", 1))->at("n"), 1);
  EXPECT_THAT(model.requests, SizeIs(2));
  EXPECT_EQ(again->costs().at("stage").calls, 2U);
  EXPECT_EQ(again->costs().at("stage").prompt_tokens, 2000);
}

// A secret that nobody replaced earlier: joining two texts may make one.
TEST(Teacher, TheWholeRequestIsScannedBeforeItIsSent) {
  const std::string secret = "hf_" + std::string("QkWmZpXtRvLsYbNcGhJdFeAuTiOoPqRsKl");
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("{\"n\": 1}"); });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  std::vector<std::string> said;
  teacher->set_say([&](const std::string& line) { said.push_back(line); });
  TeacherCall call = Call("the token is " + secret + " here");
  call.system = "use " + secret;
  ASSERT_TRUE(teacher->Ask(call).ok());
  ASSERT_THAT(model.requests, SizeIs(1));
  EXPECT_EQ(model.requests[0].system, "use [redacted:hf-token:1]");
  EXPECT_EQ(model.requests[0].messages[0].text, "the token is [redacted:hf-token:1] here");
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_THAT(said[0], AllOf(HasSubstr("replaced in the request just before it was sent"), Not(HasSubstr(secret))));
  teacher->set_keep_secrets(true);
  call.attempt = 1;
  ASSERT_TRUE(teacher->Ask(call).ok());
  EXPECT_THAT(model.requests[1].messages[0].text, HasSubstr(secret));
}

TEST(Teacher, AnAnswerOutsideTheSchemaIsRequestedAgain) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    return std::string(number < 2 ? "{\"m\": 1}" : "Here: {\"n\": 5}");
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  const Result<Json> answer = teacher->Ask(Call("a"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->at("n"), 5);
  EXPECT_THAT(model.requests.back().messages, SizeIs(5));
  EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.03);
}

TEST(Teacher, KeysThatWerentAskedForAreLeftOutAndNamed) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string(R"({"n": 5, "why": "w"})"); });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  std::vector<std::string> said;
  teacher->set_say([&](const std::string& line) { said.push_back(line); });
  TeacherCall call = Call("a");
  call.schema["additionalProperties"] = false;
  for (int session = 0; session < 2; ++session) {
    const Result<Json> answer = teacher->Ask(call);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(DumpJson(*answer), R"({"n":5})");
  }
  EXPECT_THAT(said, ElementsAre(HasSubstr("why")));
  EXPECT_THAT(model.requests, SizeIs(1));
}

TEST(Teacher, NoUsableAnswerIsRememberedToo) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("no"); });
  for (int session = 0; session < 2; ++session) {
    Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
    ASSERT_TRUE(teacher.ok());
    const Result<Json> answer = teacher->Ask(Call("a"));
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().message, HasSubstr("can't be used"));
  }
  EXPECT_THAT(model.requests, SizeIs(3));
}

TEST(Teacher, AnUnusableAnswerIsPaidFor) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("no"); });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  const Result<Json> answer = teacher->Ask(Call("a"));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kInput);
  EXPECT_THAT(answer.error().message,
              HasSubstr("the teacher's last answer can't be used: it isn't valid JSON (line 1, column 1)"));
  EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.03) << "all three requests";
}

TEST(Teacher, AnErrorOfTheServerIsNeverStored) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    return number == 0 ? Result<std::string>(InputError("HTTP 400: the request is too long"))
                       : Result<std::string>(std::string("{\"n\": 1}"));
  });
  {
    Result<Teacher> teacher = Teacher::Open(model, file);
    ASSERT_TRUE(teacher.ok());
    const Result<Json> answer = teacher->Ask(Call("a"));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent)
        << "an error of the server, which another attempt at the answer can't fix";
    EXPECT_THAT(answer.error().message, HasSubstr("teacher teacher: HTTP 400: the request is too long"));
    EXPECT_EQ(*ReadFile(file), "");
    EXPECT_EQ(teacher->answers(), 0U);
  }
  Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->Ask(Call("a"))->at("n"), 1);
}

TEST(Teacher, AStoredAnswerOutsideTheSchemaIsRequestedAgain) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t number) { return fmt::format("{{\"n\": {}}}", number); });
  {
    Result<Teacher> teacher = Teacher::Open(model, file);
    ASSERT_TRUE(teacher.ok());
    ASSERT_TRUE(teacher->Ask(Call("a")).ok());
  }
  std::string stored = *ReadFile(file);
  const std::string answer = R"("answer":{"n":0})";
  ASSERT_NE(stored.find(answer), std::string::npos) << stored;
  stored.replace(stored.find(answer), answer.size(), R"("answer":[])");
  ASSERT_TRUE(WriteFileAtomically(file, stored));
  Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  const Result<Json> asked = again->Ask(Call("a"));
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(*asked, Json({{"n", 1}}));
}

// Permits `permitted` requests at a cent each.
struct Allowance {
  explicit Allowance(int count) : permitted(count) {}
  TeacherMeter meter() {
    return {[this](const Model&, const ChatRequest&) {
              return permitted-- > 0 ? Status() : Status(Error{ErrorKind::kPermanent, "enough"});
            },
            [this](const Result<ChatResponse>&) {
              ++settled;
              return Spending{100, 0.01};
            }};
  }
  int permitted;
  int settled = 0;
};

TEST(Teacher, PermissionIsNeededForNewRequestsOnly) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) { return fmt::format("{{\"n\": {}}}", number); });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  ASSERT_TRUE(teacher->Ask(Call("a")).ok());
  Allowance none(0);
  teacher->set_meter(none.meter());
  EXPECT_TRUE(teacher->Ask(Call("a")).ok());
  EXPECT_EQ(teacher->Ask(Call("b")).error().message, "enough");
  EXPECT_THAT(model.requests, SizeIs(1));
  EXPECT_EQ(none.settled, 0);
}

TEST(Teacher, EachRepairNeedsPermission) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("no"); });
  Result<Teacher> teacher = Teacher::Open(model, file);
  ASSERT_TRUE(teacher.ok());
  Allowance two(2);
  teacher->set_meter(two.meter());
  EXPECT_EQ(teacher->Ask(Call("a")).error().message, "enough");
  EXPECT_THAT(model.requests, SizeIs(2));
  EXPECT_EQ(two.settled, 2);
  EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.02);
}

TEST(Teacher, WhatFailedRequestsMayHaveCostIsRemembered) {
  const TempFolder folder;
  const SteppingClock clock;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t) { return Result<std::string>(Gone()); });
  {
    Result<Teacher> teacher = Teacher::Open(model, file, nullptr, &clock);
    ASSERT_TRUE(teacher.ok());
    Allowance enough(10);
    teacher->set_meter(enough.meter());
    EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(enough.settled, 4) << "every attempt";
    EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.04);
  }
  const Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  EXPECT_DOUBLE_EQ(again->cost_usd(), 0.04);
  EXPECT_EQ(again->answers(), 0U);
}

TEST(Teacher, ABrokenConnectionIsTriedAgain) {
  const TempFolder folder;
  const SteppingClock clock;
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    return number < 3 ? Result<std::string>(Gone()) : Result<std::string>(std::string("{\"n\": 1}"));
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl", nullptr, &clock);
  ASSERT_TRUE(teacher.ok());
  EXPECT_EQ(teacher->Ask(Call("a"))->at("n"), 1);
  EXPECT_THAT(model.requests, SizeIs(4));
}

TEST(Teacher, ABrokenConnectionIsNotRemembered) {
  const TempFolder folder;
  const SteppingClock clock;
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    return number < 4 ? Result<std::string>(Gone()) : Result<std::string>(std::string("{\"n\": 1}"));
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl", nullptr, &clock);
  ASSERT_TRUE(teacher.ok());
  EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(model.requests, SizeIs(4));
  EXPECT_TRUE(teacher->Ask(Call("a")).ok());
}

TEST(Teacher, AStopEndsTheWaitForAnotherAttempt) {
  const TempFolder folder;
  const SteppingClock clock(std::chrono::milliseconds(1));
  StopFlag stop = 0;
  FakeTeacher model([&](const ChatRequest&, std::size_t) {
    stop = 1;
    return Result<std::string>(Gone());
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl", &stop, &clock);
  ASSERT_TRUE(teacher.ok());
  EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kCancelled);
  EXPECT_THAT(model.requests, SizeIs(1));
}

// The first answer was paid for, whatever becomes of the request to correct it.
TEST(Teacher, AnAnswerBeforeAFailedRepairIsKept) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    if (number == 1) return Result<std::string>(Error{ErrorKind::kPermanent, "the key was taken back"});
    return Result<std::string>(std::string(number == 0 ? "four" : "{\"n\": 4}"));
  });
  {
    Result<Teacher> teacher = Teacher::Open(model, file);
    ASSERT_TRUE(teacher.ok());
    EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kPermanent);
    EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.01);
    EXPECT_EQ(teacher->answers(), 1U);
  }
  Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  EXPECT_DOUBLE_EQ(again->cost_usd(), 0.01);
  EXPECT_EQ(again->Ask(Call("a"))->at("n"), 4);
  EXPECT_DOUBLE_EQ(again->cost_usd(), 0.02);
  EXPECT_THAT(model.requests, SizeIs(3));
  EXPECT_THAT(model.requests[2].messages, SizeIs(3)) << "the repair, not the question";
  EXPECT_EQ(again->Ask(Call("a"))->at("n"), 4);
  EXPECT_THAT(model.requests, SizeIs(3));
}

TEST(Teacher, AnUnknownCostLeavesTheKnownOnes) {
  const TempFolder folder;
  const auto file = folder.Write("calls.jsonl", R"({"key":"a","stage":"stage","prompt_tokens":1,"cost_usd":0.25}
{"key":"b","stage":"stage","prompt_tokens":1,"cost_usd":null}
{"key":"c","stage":"stage","prompt_tokens":1,"cost_usd":0.5}
)");
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("no"); });
  const Result<Teacher> teacher = Teacher::Open(model, file);
  ASSERT_TRUE(teacher.ok());
  EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.75);
  EXPECT_EQ(teacher->costs().at("stage").total_usd(), std::nullopt);
}

// Otherwise answers that another process adds meanwhile would be missed and paid for again.
TEST(Teacher, TheFileIsLockedBeforeItIsRead) {
  const TempFolder folder;
  const auto file = folder.Write("calls.jsonl", "");
  const Result<AppendFile> other = AppendFile::Open(file, false);
  ASSERT_TRUE(other.ok());
  std::filesystem::resize_file(file, std::uintmax_t{257} << 20U);  // too large to read
  FakeTeacher model([](const ChatRequest&, std::size_t) { return std::string("no"); });
  EXPECT_THAT(Teacher::Open(model, file).error().message, HasSubstr("being written by another process"));
}

TEST(Teacher, SaysWhyItAsksAgain) {
  const TempFolder folder;
  FakeTeacher model(
      [](const ChatRequest&, std::size_t number) { return std::string(number == 0 ? "no" : R"({"n": 4})"); });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  std::vector<std::string> said;
  teacher->set_say([&](const std::string& line) { said.push_back(line); });
  ASSERT_TRUE(teacher->Ask(Call("a")).ok());
  EXPECT_THAT(said, ElementsAre(HasSubstr("asking teacher again: it isn't valid JSON (line 1, column 1)")));
}

// Answers only when it is told to.
class SlowTeacher : public FakeTeacher {
 public:
  SlowTeacher() : FakeTeacher([](const ChatRequest&, std::size_t) { return std::string(R"({"n": 4})"); }) {}
  void Start(ChatRequest request, Done done) override {
    answer = [this, request = std::move(request), done = std::move(done)] { FakeTeacher::Start(request, done); };
  }
  std::function<void()> answer;
};

TEST(Teacher, AStopSaysThatItWaitsForTheAnswer) {
  const TempFolder folder;
  SlowTeacher model;
  const StopFlag stop = 1;
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl", &stop);
  ASSERT_TRUE(teacher.ok());
  std::vector<std::string> said;
  teacher->set_say([&](const std::string& line) {
    said.push_back(line);
    model.answer();
  });
  ASSERT_TRUE(teacher->Ask(Call("a")).ok());
  EXPECT_THAT(said, ElementsAre(HasSubstr("stopping when teacher has answered (Ctrl-C again to drop its answer)")));
}

TEST(Teacher, AFullContextWindowIsNotTheTokenLimit) {
  const TempFolder folder;
  FakeModel model("teacher", 1, [](const ChatRequest&, std::size_t) {
    ChatResponse response;
    response.text = "{\"n\":";
    response.stop = StopReason::kContext;
    return response;
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  EXPECT_THAT(teacher->Ask(Call("a")).error().message,
              AllOf(HasSubstr("context window is full"), HasSubstr("--budget"), Not(HasSubstr("max_tokens"))));
}

}  // namespace
}  // namespace upskill
