// SPDX-License-Identifier: Apache-2.0
#include "teach/teacher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/fake_teacher.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const Json kSchema = {{"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}};

TeacherCall Call(const std::string& prompt, int attempt = 0) { return {"stage", "system", prompt, kSchema, attempt}; }

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
  EXPECT_THAT(answer.error().message, HasSubstr("after 3 attempts"));
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
  EXPECT_EQ(teacher->answers(), 0U) << "asked again when there is more";
}

TEST(Teacher, WhatAFailedCallMayHaveCostIsRemembered) {
  const TempFolder folder;
  const auto file = folder.path() / "calls.jsonl";
  FakeTeacher model([](const ChatRequest&, std::size_t number) -> Result<std::string> {
    if (number == 1) return Error{ErrorKind::kUnavailable, "no data from the server"};
    return std::string("no");
  });
  {
    Result<Teacher> teacher = Teacher::Open(model, file);
    ASSERT_TRUE(teacher.ok());
    Allowance enough(10);
    teacher->set_meter(enough.meter());
    EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kUnavailable);
    EXPECT_DOUBLE_EQ(teacher->cost_usd(), 0.02) << "the unusable answer, and the request without one";
  }
  const Result<Teacher> again = Teacher::Open(model, file);
  ASSERT_TRUE(again.ok());
  EXPECT_DOUBLE_EQ(again->cost_usd(), 0.02);
  EXPECT_EQ(again->answers(), 0U);
}

TEST(Teacher, ABrokenConnectionIsNotRemembered) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) {
    return number == 0 ? Result<std::string>(Error{ErrorKind::kUnavailable, "gone"})
                       : Result<std::string>(std::string("{\"n\": 1}"));
  });
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  ASSERT_TRUE(teacher.ok());
  EXPECT_EQ(teacher->Ask(Call("a")).error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(teacher->Ask(Call("a")).ok());
}

}  // namespace
}  // namespace upskill
