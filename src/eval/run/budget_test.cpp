// SPDX-License-Identifier: Apache-2.0
#include "eval/run/budget.h"

#include <gmock/gmock.h>

#include <string>

#include "support/fake_model.h"
#include "util/error_cause.h"

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

ChatResponse AnswerUsing(std::int64_t prompt, std::int64_t output, std::optional<double> usd = std::nullopt) {
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

TEST(WorstCase, IncludesTheSchemaAndThePriceOfARequest) {
  ChatRequest request = Question();
  const Spending without = WorstCase(PricedModel(), request);
  request.answer_schema = Json{{"type", "object"}, {"description", std::string(3500, 'd')}};
  EXPECT_GE(WorstCase(PricedModel(), request).tokens, without.tokens + 1000);
  Price price = kPrice;
  price.request = 0.5;
  FakeModel model("per-request", 1, nullptr);
  model.set_price(price);
  EXPECT_DOUBLE_EQ(WorstCase(model, Question()).usd, without.usd + 0.5);
}

TEST(Budget, WithoutLimitsEverythingFits) {
  Budget budget{RunLimits{}};
  const PricedModel model;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(budget.Reserve(model, Question(1 << 20)));
  EXPECT_EQ(budget.reserved().tokens, 0);
  budget.Settle(*budget.Reserve(model, Question()), AnswerUsing(10, 5, 0.5));
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
  budget.Settle(*first, AnswerUsing(20, 30));
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
  EXPECT_THAT(budget.shortage(), AllOf(HasSubstr("$0 of $"), HasSubstr("spent, and the next answer may cost $")));
  budget.Settle(*first, AnswerUsing(10, 10, worst / 4));
  EXPECT_FALSE(budget.Reserve(model, Question()));
  budget.Settle(*second, AnswerUsing(10, 10, worst / 4));
  EXPECT_TRUE(budget.Reserve(model, Question()));
  EXPECT_NEAR(budget.spent().usd, worst / 2, 1e-12);
}

TEST(Budget, UnsentAndRejectedRequestsCostNothing) {
  const PricedModel model;
  ChatRequest request = Question();
  request.answer_schema = Json{{"type", "object"}};
  Budget budget = ForTokens(WorstCase(model, request).tokens);
  budget.Release(*budget.Reserve(model, request));
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kPermanent, ErrorKind::kCancelled}) {
    const auto reservation = budget.Reserve(model, request);
    ASSERT_TRUE(reservation);
    EXPECT_EQ(budget.Settle(*reservation, Error{kind, "HTTP 400: no"}).tokens, 0);
  }
  EXPECT_EQ(budget.spent().tokens, 0);
  EXPECT_EQ(budget.reserved().tokens, 0);
  EXPECT_EQ(budget.reserved().usd, 0.0);
}

TEST(Budget, ARequestThatMayHaveBeenWorkedOnCountsAsItsReservation) {
  const PricedModel model;
  const Spending worst = WorstCase(model, Question());
  Budget budget = ForDollars(2 * worst.usd);
  const Spending used = budget.Settle(*budget.Reserve(model, Question()), Error{ErrorKind::kUnavailable, "no data"});
  EXPECT_DOUBLE_EQ(used.usd, worst.usd);
  EXPECT_DOUBLE_EQ(budget.spent().usd, worst.usd);
  budget.Settle(*budget.Reserve(model, Question()), Error{ErrorKind::kUnavailable, "no data"});
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_THAT(budget.shortage(), AllOf(HasSubstr("spent (up to $"), HasSubstr("of it by requests that failed)")));

  FakeModel own("smollm2", 4, nullptr);
  own.set_in_process();
  Budget tokens = ForTokens(10'000);
  tokens.Settle(*tokens.Reserve(own, Question()), Error{ErrorKind::kUnavailable, "no memory"});
  EXPECT_EQ(tokens.spent().tokens, 0) << "nobody else works on requests of a model in process";
}

TEST(Budget, AnAnswerThatCannotBeUsedCountsAsItsReservation) {
  const PricedModel model;
  const Spending worst = WorstCase(model, Question());
  for (const ErrorCause cause : {ErrorCause::kTooLong, ErrorCause::kUnusable}) {
    for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kPermanent}) {
      Budget budget = ForDollars(2 * worst.usd);
      budget.Settle(*budget.Reserve(model, Question()), Error{kind, "its output exceeds 16 MB"}.Because(cause));
      EXPECT_DOUBLE_EQ(budget.spent().usd, worst.usd) << ErrorCauseName(cause);
    }
  }
}

TEST(Budget, AFailureCountsAsWhatItReports) {
  const PricedModel model;
  const Spending worst = WorstCase(model, Question());
  Error error{ErrorKind::kUnavailable, "it reports an error"};
  error.used_usd = 0.9;
  error.used_tokens = 320'000;
  Budget budget = ForDollars(1.0);
  EXPECT_DOUBLE_EQ(budget.Settle(*budget.Reserve(model, Question()), error).usd, 0.9);
  EXPECT_FALSE(budget.Reserve(model, Question())) << "the next one may cost as much";
  Budget none{RunLimits{}};
  EXPECT_EQ(none.Settle(*none.Reserve(model, Question()), error).tokens, 320'000);
  error.used_usd = worst.usd / 2;
  Budget less = ForDollars(1.0);
  EXPECT_DOUBLE_EQ(less.Settle(*less.Reserve(model, Question()), error).usd, worst.usd) << "it may not have said all";
}

TEST(Budget, AModelWithoutBoundsGetsItsFirstRequestAlone) {
  FakeModel model("cmd", 4, nullptr);
  model.set_price(kPrice);
  model.set_unbounded();
  Budget budget = ForDollars(1.0);
  const auto first = budget.Reserve(model, Question());
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_EQ(budget.shortage(), "the first answer of cmd will show what one may use");
  budget.Settle(*first, AnswerUsing(100, 100, 0.3));
  EXPECT_TRUE(budget.Reserve(model, Question()));
  EXPECT_TRUE(budget.Reserve(model, Question()));
  EXPECT_FALSE(budget.Reserve(model, Question())) << "0.3 spent and 0.6 in flight";
}

TEST(Budget, SaysOnceThatALimitWasExceeded) {
  const PricedModel model;
  Budget budget = ForDollars(1.0);
  const auto first = budget.Reserve(model, Question());
  const auto second = budget.Reserve(model, Question());
  budget.Settle(*first, AnswerUsing(100, 100, 1.5));
  budget.Settle(*second, AnswerUsing(100, 100, 1.5));
  EXPECT_THAT(budget.caveats(),
              ElementsAre("$1.50 of $1.00 spent: more than the limit, because answers used more than a "
                          "request could be expected to"));
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
  budget.Settle(*budget.Reserve(model, Question()), AnswerUsing(worst + 500, 0));
  EXPECT_EQ(budget.Reserve(model, Question())->amount.tokens, worst + 500);
  const FakeModel other("other", 1, nullptr);
  EXPECT_EQ(budget.Reserve(other, Question())->amount.tokens, WorstCase(other, Question()).tokens);
}

TEST(Budget, ModelsInProcessCostNothingAndNeverWait) {
  FakeModel model("smollm2", 4, nullptr);
  model.set_in_process();
  Budget budget = ForDollars(0.01);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(budget.Reserve(model, Question()));
  budget.Settle(*budget.Reserve(model, Question()), AnswerUsing(10, 10));
  EXPECT_EQ(budget.spent().usd, 0.0);
  EXPECT_THAT(budget.caveats(), IsEmpty());
}

// It could cost any amount before the first answer shows it.
TEST(Budget, NothingIsSentToAModelOfUnknownPrice) {
  FakeModel model("local-server", 4, nullptr);
  model.set_local();  // may be a gateway
  Budget budget = ForDollars(0.01);
  EXPECT_FALSE(budget.Reserve(model, Question()));
  EXPECT_EQ(budget.shortage(), "the price of local-server is unknown, so the limit on cost can't be enforced");
  EXPECT_TRUE(ForTokens(10'000).Reserve(model, Question())) << "tokens can be counted";
}

TEST(Budget, AModelWithAPriceOfZeroIsFree) {
  FakeModel model("server", 4, nullptr);
  model.set_price(Price{});
  Budget budget = ForDollars(0.01);
  for (int i = 0; i < 100; ++i) budget.Settle(*budget.Reserve(model, Question()), AnswerUsing(0, 0));
  budget.Charge({0, 1.0});
  EXPECT_TRUE(budget.Reserve(model, Question())) << "it adds nothing to what is spent";
  EXPECT_THAT(budget.caveats(), IsEmpty());
}

TEST(Budget, ThePriceCountsIfNoCostIsReported) {
  const PricedModel model;
  Budget budget = ForDollars(1.0);
  budget.Settle(*budget.Reserve(model, Question()), AnswerUsing(100, 10));
  EXPECT_DOUBLE_EQ(budget.spent().usd, (100 * 1.0 + 10 * 10.0) / 1e6);
  Budget reported = ForDollars(1.0);
  reported.Settle(*reported.Reserve(model, Question()), AnswerUsing(10, 10, 0.0));  // free, as the server says
  EXPECT_EQ(reported.spent().usd, 0.0);
}

TEST(Budget, UnreportedUsageCountsAsTheReservationAndEndsTheModel) {
  ChatResponse without_output = AnswerUsing(10, 0);
  without_output.text = "an answer";
  for (const ChatResponse& answer : {AnswerUsing(0, 0), AnswerUsing(0, 0, 0.0), AnswerUsing(0, 7), without_output}) {
    const PricedModel model;
    const Spending worst = WorstCase(model, Question());
    Budget dollars = ForDollars(1.0);
    dollars.Settle(*dollars.Reserve(model, Question()), answer);
    EXPECT_DOUBLE_EQ(dollars.spent().usd, worst.usd);
    EXPECT_FALSE(dollars.Reserve(model, Question()));
    EXPECT_EQ(dollars.shortage(), "haiku doesn't report what its answers use, so the limit on cost can't be enforced");
    EXPECT_THAT(dollars.caveats(), ElementsAre(HasSubstr("haiku: answers without token counts")));

    Budget tokens = ForTokens(10'000);
    tokens.Settle(*tokens.Reserve(model, Question()), answer);
    EXPECT_EQ(tokens.spent().tokens, worst.tokens);
    EXPECT_FALSE(tokens.Reserve(model, Question()));
    EXPECT_THAT(tokens.shortage(), HasSubstr("so the limit on tokens can't be enforced"));
  }
}

}  // namespace
}  // namespace upskill
