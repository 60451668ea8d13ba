// SPDX-License-Identifier: Apache-2.0
#include "eval/run/turn_admission.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/fake_model.h"

namespace upskill {
namespace {

// A budget of tokens, and a model whose turns may take about a hundred each.
class TurnAdmissionTest : public testing::Test {
 protected:
  explicit TurnAdmissionTest(std::int64_t most = 450) : budget_(Limits(most)) {}

  static RunLimits Limits(std::int64_t most) {
    RunLimits limits;
    limits.max_tokens = most;
    return limits;
  }

  ChatRequest Turn(std::size_t number) const {
    ChatRequest request;
    request.sampling.max_tokens = 50;
    for (std::size_t i = 0; i < number; ++i) request.messages.push_back({Role::kUser, "x"});
    return request;
  }

  // Begins a cell as the runner does; nothing if the budget has no room.
  std::shared_ptr<TurnMeter> Begin() {
    std::optional<Budget::Reservation> first = budget_.Reserve(model_, Turn(1));
    return first ? turns_.Begin(*std::move(first)) : nullptr;
  }

  void Reserve(TurnMeter& meter, std::size_t number) {
    meter.Reserve(model_, Turn(number),
                  [this](Result<std::uint64_t> ticket) { answers_.push_back(std::move(ticket)); });
    Look();
  }
  void Settle(TurnMeter& meter, std::uint64_t ticket, std::int64_t tokens) {
    ChatResponse response;
    response.text = "x";
    response.usage.input = tokens - 1;
    response.usage.output = 1;
    meter.Settle(ticket, response);
    Look();
  }
  void Look() {
    AnswerQueue::Arrivals arrivals = queue_->Take(std::chrono::milliseconds(0));
    for (TurnEvent& event : arrivals.turns) turns_.Take(std::move(event));
    shortage_ = turns_.Approve(false);
  }

  Budget budget_;
  FakeModel model_{"m", 4, [](const ChatRequest&, std::size_t) { return std::nullopt; }};
  const std::shared_ptr<AnswerQueue> queue_ = std::make_shared<AnswerQueue>();
  TurnAdmission turns_{budget_, queue_, true};
  std::vector<Result<std::uint64_t>> answers_;
  std::optional<std::string> shortage_;
};

TEST_F(TurnAdmissionTest, TheFirstTurnUsesWhatWasReservedForIt) {
  const auto meter = Begin();
  ASSERT_NE(meter, nullptr);
  const std::int64_t reserved = budget_.reserved().tokens;
  Reserve(*meter, 1);
  ASSERT_EQ(answers_.size(), 1U);
  ASSERT_TRUE(answers_[0].ok());
  EXPECT_EQ(budget_.reserved().tokens, reserved);
  Settle(*meter, *answers_[0], 20);
  EXPECT_EQ(budget_.reserved().tokens, 0);
  EXPECT_EQ(budget_.spent().tokens, 20);
}

TEST_F(TurnAdmissionTest, WhatWasReservedIsGivenBackIfTheFirstTurnIsKnown) {
  const auto meter = Begin();
  Reserve(*meter, 3);
  ASSERT_TRUE(answers_.at(0).ok());
  Settle(*meter, *answers_[0], 20);
  turns_.End(turns_.last_cell());
  EXPECT_EQ(budget_.reserved().tokens, 0);
  const auto unused = Begin();
  turns_.End(turns_.last_cell());
  EXPECT_EQ(budget_.reserved().tokens, 0);
  EXPECT_EQ(turns_.cells(), 0U);
}

TEST_F(TurnAdmissionTest, ATurnWaitsForWhatOthersLeave) {
  const auto first = Begin();
  const auto second = Begin();
  Reserve(*first, 1);
  Reserve(*second, 1);
  ASSERT_EQ(answers_.size(), 2U);
  Settle(*first, *answers_[0], 100);
  Reserve(*first, 3);
  Settle(*second, *answers_[1], 100);
  Reserve(*second, 3);
  ASSERT_EQ(answers_.size(), 3U) << "there is room for one of the two";
  EXPECT_FALSE(shortage_.has_value());
  Settle(*first, *answers_[2], 5);
  ASSERT_EQ(answers_.size(), 4U);
  EXPECT_TRUE(answers_[3].ok());
}

TEST_F(TurnAdmissionTest, ATurnThatWillNeverFitIsRefused) {
  const auto meter = Begin();
  Reserve(*meter, 1);
  Settle(*meter, *answers_.at(0), 400);
  Reserve(*meter, 3);
  ASSERT_EQ(answers_.size(), 2U);
  ASSERT_FALSE(answers_[1].ok());
  EXPECT_EQ(answers_[1].error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(answers_[1].error().cause, ErrorCause::kLimit);
  EXPECT_TRUE(shortage_.has_value());
}

TEST_F(TurnAdmissionTest, AfterTheEndEveryTurnIsRefused) {
  const auto meter = Begin();
  turns_.Stop();
  Reserve(*meter, 1);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].error().kind, ErrorKind::kCancelled);
  turns_.End(turns_.last_cell());
  EXPECT_EQ(budget_.reserved().tokens, 0);
}

}  // namespace
}  // namespace upskill
