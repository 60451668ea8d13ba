// SPDX-License-Identifier: Apache-2.0
#include "eval/budget.h"

#include <gmock/gmock.h>

#include <string>

#include "model/structured_answer.h"
#include "support/fake_model.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Price kPrice{1.0, 10.0, 0.1, 1.25, "2026-11-21"};

class PricedModel : public FakeModel {
 public:
  PricedModel() : FakeModel("haiku", 4, nullptr) { set_price(kPrice); }
};

ChatRequest Question(int max_tokens = 100) {
  ChatRequest request;
  request.system = std::string(300, 's');
  request.messages.push_back({Role::kUser, std::string(30, 'q')});
  request.sampling.max_tokens = max_tokens;
  return request;
}

ChatResponse Used(std::int64_t prompt, std::int64_t output, std::optional<double> usd = std::nullopt) {
  ChatResponse response;
  response.usage.input = prompt;
  response.usage.output = output;
  response.cost_usd = usd;
  return response;
}

Budget ForTokens(std::int64_t tokens) {
  RunLimits limits;
  limits.max_tokens = tokens;
  return Budget(limits);
}

Budget ForDollars(double usd) {
  RunLimits limits;
  limits.max_cost_usd = usd;
  return Budget(limits);
}

TEST(WorstCase, CoversThePromptAndTheLongestAnswer) {
  const PricedModel model;
  const Spending worst = WorstCase(model, Question());
  EXPECT_GE(worst.tokens, 110 + 100);
  EXPECT_LE(worst.tokens, 110 + 100 + 100);  // the chat template's markers
  // Every token of the prompt may be written to the cache, the most expensive way to send it.
  EXPECT_DOUBLE_EQ(worst.usd, (static_cast<double>(worst.tokens - 100) * 1.25 + 100 * 10.0) / 1e6);
  EXPECT_EQ(WorstCase(FakeModel("free", 1, nullptr), Question()).usd, 0.0);
}

TEST(WorstCase, UsesTheModelsOwnCountsWhereAvailable) {
  class Counting : public FakeModel {
   public:
    Counting() : FakeModel("counting", 1, nullptr) {}
    std::optional<std::size_t> CountTokens(const std::string& text) const override { return 1000 * text.size(); }
    int MaxOutputTokens(const ChatRequest& request) const override { return 7'000'000 + request.sampling.max_tokens; }
  };
  const Spending worst = WorstCase(Counting(), Question());
  EXPECT_GE(worst.tokens, 330'000 + 7'000'100);
  EXPECT_LE(worst.tokens, 330'000 + 7'000'100 + 100);
}

TEST(WorstCase, IncludesRepairsOfAnAnswerThatMustFitASchema) {
  ChatRequest request = Question();
  const Spending once = WorstCase(PricedModel(), request);
  request.answer_schema = Json{{"type", "object"}};
  const Spending repaired = WorstCase(PricedModel(), request);
  EXPECT_GE(repaired.tokens, (kMaxRepairs + 1) * once.tokens);
  EXPECT_GE(repaired.usd, (kMaxRepairs + 1) * once.usd);
}

TEST(Budget, WithoutLimitsEverythingFits) {
  Budget budget{RunLimits{}};
  const PricedModel model;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(budget.Reserve(model, Question(1 << 20)));
  EXPECT_EQ(budget.reserved().tokens, 0);
  budget.Settle(*budget.Reserve(model, Question()), Used(10, 5, 0.5));
  EXPECT_EQ(budget.spent().tokens, 15);
  EXPECT_EQ(budget.spent().usd, 0.5);
}

TEST(Budget, ReservesTheWorstCaseAndSettlesActualUse) {
  const PricedModel model;
  const std::int64_t worst = WorstCase(model, Question()).tokens;
  Budget budget = ForTokens(2 * worst + 50);
  const auto first = budget.Reserve(model, Question());
  const auto second = budget.Reserve(model, Question());
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_EQ(budget.reserved().tokens, 2 * worst);
  budget.Settle(*first, Used(20, 30));
  EXPECT_EQ(budget.spent().tokens, 50);
  EXPECT_EQ(budget.reserved().tokens, worst);
  EXPECT_TRUE(budget.Reserve(model, Question())) << "exactly the limit";
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_THAT(budget.shortage(), AllOf(HasSubstr("50 of "), HasSubstr(" tokens used, and the next answer may take ")));
}

TEST(Budget, TheCostLimitHoldsToo) {
  const PricedModel model;
  const double worst = WorstCase(model, Question()).usd;
  Budget budget = ForDollars(3 * worst);
  const auto first = budget.Reserve(model, Question());
  const auto second = budget.Reserve(model, Question());
  ASSERT_TRUE(first && second && budget.Reserve(model, Question())) << "sums of floating-point costs aren't exact";
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_THAT(budget.shortage(), AllOf(HasSubstr("$0.0000 of $"), HasSubstr("spent, and the next answer may cost $")));
  budget.Settle(*first, Used(10, 10, worst / 4));
  EXPECT_FALSE(budget.Reserve(model, Question()));
  budget.Settle(*second, Used(10, 10, worst / 4));
  EXPECT_TRUE(budget.Reserve(model, Question()));
  EXPECT_NEAR(budget.spent().usd, worst / 2, 1e-12);
}

TEST(Budget, UnsentAndFailedRequestsCostNothing) {
  const PricedModel model;
  Budget budget = ForTokens(WorstCase(model, Question()).tokens);
  for (int i = 0; i < 3; ++i) {
    const auto reservation = budget.Reserve(model, Question());
    ASSERT_TRUE(reservation);
    i == 0 ? budget.Release(*reservation) : budget.Settle(*reservation, Error{ErrorKind::kInput, "no"});
  }
  EXPECT_EQ(budget.spent().tokens, 0);
  EXPECT_EQ(budget.reserved().tokens, 0);
  EXPECT_EQ(budget.reserved().usd, 0.0);
}

TEST(Budget, AnswersThatNeverFitTheirSchemaArePaidFor) {
  const PricedModel model;
  Budget budget = ForDollars(1.0);
  ChatRequest request = Question();
  request.answer_schema = Json{{"type", "object"}};
  const auto reservation = budget.Reserve(model, request);
  ASSERT_TRUE(reservation);
  budget.Settle(*reservation, Error{ErrorKind::kInput, "the model's answer doesn't fit its schema"});
  EXPECT_DOUBLE_EQ(budget.spent().usd, reservation->amount.usd);
  budget.Settle(*budget.Reserve(model, request), Error{ErrorKind::kUnavailable, "overloaded"});
  EXPECT_DOUBLE_EQ(budget.spent().usd, reservation->amount.usd);
}

TEST(Budget, EarlierSpendingCounts) {
  const PricedModel model;
  Budget budget = ForDollars(1.0);
  budget.Charge({1000, 0.9999});
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_EQ(budget.reserved().usd, 0.0) << "nothing else is in flight: it never fits";
}

TEST(Budget, AModelThatUsesMoreThanEstimatedIsEstimatedHigher) {
  const PricedModel model;
  const std::int64_t worst = WorstCase(model, Question()).tokens;
  Budget budget = ForTokens(100'000);
  budget.Settle(*budget.Reserve(model, Question()), Used(worst + 500, 0));
  EXPECT_EQ(budget.Reserve(model, Question())->amount.tokens, worst + 500);
  const FakeModel other("other", 1, nullptr);
  EXPECT_EQ(budget.Reserve(other, Question())->amount.tokens, WorstCase(other, Question()).tokens);
}

TEST(Budget, AnUnknownCostIsLearnedFromTheFirstAnswer) {
  FakeModel model("local-server", 4, nullptr);
  model.set_local();
  Budget budget = ForDollars(0.1);
  const auto first = budget.Reserve(model, Question());
  ASSERT_TRUE(first && budget.Reserve(model, Question()));
  EXPECT_FALSE(budget.Reserve(model, Question())) << "no more than two before the first answer";
  EXPECT_THAT(budget.shortage(), HasSubstr("local-server"));
  budget.Settle(*first, Used(10, 10, 0.03));
  EXPECT_EQ(budget.reserved().usd, 0.03) << "the second, of which nothing was known either";
  EXPECT_EQ(budget.Reserve(model, Question())->amount.usd, 0.03);
  EXPECT_FALSE(budget.Reserve(model, Question()));
}

TEST(Budget, ModelsInProcessCostNothingAndNeverWait) {
  FakeModel model("smollm2", 4, nullptr);
  model.set_in_process();
  Budget budget = ForDollars(0.01);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(budget.Reserve(model, Question()));
  budget.Settle(*budget.Reserve(model, Question()), Used(10, 10));
  EXPECT_EQ(budget.spent().usd, 0.0);
  EXPECT_THAT(budget.caveats(), IsEmpty());
}

TEST(Budget, ReportsOncePerModelWhatItCannotCount) {
  const FakeModel unknown("remote", 4, nullptr);
  Budget dollars = ForDollars(1.0);
  for (int i = 0; i < 3; ++i) dollars.Settle(*dollars.Reserve(unknown, Question()), Used(10, 10));
  EXPECT_THAT(dollars.caveats(), ElementsAre("remote: price unknown; --max-cost doesn't count it"));

  Budget tokens = ForTokens(10'000);
  for (int i = 0; i < 3; ++i) tokens.Settle(*tokens.Reserve(unknown, Question()), Used(0, 0));
  EXPECT_THAT(tokens.caveats(), ElementsAre(HasSubstr("remote: answers without token counts")));
  EXPECT_EQ(tokens.spent().tokens, 3 * WorstCase(unknown, Question()).tokens) << "unknown usage never counts as zero";
}

TEST(Budget, UnknownUsageOfAPricedModelCostsTheWholeReservation) {
  const PricedModel model;
  const double worst = WorstCase(model, Question()).usd;
  Budget budget = ForDollars(1.0);
  budget.Settle(*budget.Reserve(model, Question()), Used(0, 0, 0.0));  // zero tokens at a price
  EXPECT_DOUBLE_EQ(budget.spent().usd, worst);
  budget.Settle(*budget.Reserve(model, Question()), Used(10, 10, 0.0));  // free, as the server says
  EXPECT_DOUBLE_EQ(budget.spent().usd, worst);
}

}  // namespace
}  // namespace upskill
