// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/good_enough.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "stats/near_best.h"
#include "support/answers_fixture.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;

PricedChoice Priced(const ChoiceAnswers& answers, double price) { return {&answers, {}, *answers.rate(), price}; }

TEST(FindGoodEnough, TheCheapestThatIsShownToBe) {
  const ChoiceAnswers opus = MakeAnswers("opus", 12, 20);
  const ChoiceAnswers haiku = MakeAnswers("haiku", 12, 20, 2);
  const ChoiceAnswers tiny = MakeAnswers("tiny", 12, 20, 100);
  const std::vector<PricedChoice> choices = {Priced(opus, 10), Priced(haiku, 1), Priced(tiny, 0.1)};
  const auto found = FindGoodEnough(choices, 0.05);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->best, 0U);
  EXPECT_EQ(found->cheapest, 1U);
  EXPECT_THAT(found->shown, ElementsAre(true, true, false));
  ASSERT_TRUE(found->with_best.has_value());
  EXPECT_NEAR(found->with_best->difference(), -2.0 / 240.0, 1e-12);
}

// Twelve answers without a loss don't show that 5 % aren't lost; the estimates alone would call haiku good enough.
TEST(FindGoodEnough, FewAnswersShowNothing) {
  const ChoiceAnswers opus = MakeAnswers("opus", 12, 1);
  const ChoiceAnswers haiku = MakeAnswers("haiku", 12, 1);
  const std::vector<PricedChoice> choices = {Priced(opus, 10), Priced(haiku, 1)};
  const auto found = FindGoodEnough(choices, 0.05);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->cheapest);
  EXPECT_EQ(found->candidate, 1U);
  EXPECT_GE(found->more.value_or(0), 3);
  EXPECT_FALSE(found->more_cases);
}

TEST(FindGoodEnough, EveryChoiceMayBeTheBest) {
  const ChoiceAnswers a = MakeAnswers("a", 12, 6);
  const ChoiceAnswers b = MakeAnswers("b", 12, 6);
  const ChoiceAnswers c = MakeAnswers("c", 12, 6, 12);
  EXPECT_TRUE(FindGoodEnough(std::vector{Priced(a, 2), Priced(b, 1)}, 0.05)->cheapest);
  EXPECT_FALSE(FindGoodEnough(std::vector{Priced(a, 2), Priced(b, 1), Priced(c, 3)}, 0.05)->cheapest)
      << "three choices share the error rate";
}

// As by contrasts of each with each other one, whether the answers are there or made when they are looked at.
TEST(FindGoodEnough, ManyChoicesAreComparedInBothDirections) {
  std::vector<ChoiceAnswers> answers;
  for (const int failures : {5, 0, 9, 2, 40, 3, 1, 60}) answers.push_back(MakeAnswers("m", 12, 20, failures));
  answers[3].rounds[4][5].lost = true;
  answers[3].rounds[4][5].state = ChoiceAnswer::State::kFailed;
  std::vector<PricedChoice> given;
  std::vector<PricedChoice> loaded;
  std::vector<double> p_values;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    given.push_back(Priced(answers[i], 10.0 - static_cast<double>(i)));
    loaded.push_back({nullptr, [&answers, i] { return answers[i]; }, given.back().rate, given.back().price});
    double p = 0.0;
    for (std::size_t j = 0; j < answers.size(); ++j) {
      if (j != i) p = std::max(p, MakeContrast(answers[i], answers[j])->PAbove(-0.05));
    }
    p_values.push_back(p);
  }
  const std::vector<bool> shown = NearBest(p_values, 0.05);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), true), 4);
  for (const std::vector<PricedChoice>& choices : {given, loaded}) {
    const auto found = FindGoodEnough(choices, 0.05);
    EXPECT_EQ(found->shown, shown);
    ASSERT_TRUE(found->with_best.has_value());
    EXPECT_EQ(found->with_best->PAbove(-0.05),
              MakeContrast(answers[*found->cheapest], answers[found->best])->PAbove(-0.05));
  }
}

TEST(FindGoodEnough, ChoicesThatCantBeCompared) {
  const ChoiceAnswers a = MakeAnswers("a", 12, 6);
  const ChoiceAnswers b = MakeAnswers("b", 11, 6);
  EXPECT_NE(FindGoodEnough(std::vector{Priced(a, 2), Priced(b, 1)}, 0.05)->problem, "");
  EXPECT_NE(FindGoodEnough(std::vector{Priced(a, 2), PricedChoice{nullptr, {}, 0.5, 1}}, 0.05)->problem, "");
  EXPECT_FALSE(FindGoodEnough(std::vector{Priced(a, 2)}, 0.05));
}

}  // namespace
}  // namespace upskill
