// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/contrast.h"

#include <gmock/gmock.h>

#include "support/answers_fixture.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ChoicesOf, EveryStudentAndArm) {
  Plan plan = MakeTestPlan(2, 3, {"haiku", "opus"});
  const RunData data =
      AnsweredRun(plan, [](std::size_t, Arm arm, std::size_t i, int) { return arm == Arm::kSkill || i == 0; });
  const std::vector<ChoiceAnswers> choices = ChoicesOf(data);
  ASSERT_EQ(choices.size(), 4U);
  EXPECT_EQ(choices[1].label(), "haiku with the skill");
  EXPECT_EQ(choices[2].label(), "opus without the skill");
  EXPECT_EQ(choices[1].rate(), 1.0);
  EXPECT_EQ(choices[2].rate(), 0.5);
  EXPECT_EQ(choices[1].rounds.size(), 3U);
  EXPECT_EQ(choices[1].rounds[0][0].tokens, 200.0);
  EXPECT_NE(choices[0].questions[0], choices[0].questions[1]);
}

TEST(Contrast, DifferenceAndPValues) {
  const auto contrast = MakeContrast(MakeAnswers("a", 12, 10, 24), MakeAnswers("b", 12, 10));
  ASSERT_TRUE(contrast.ok());
  EXPECT_EQ(contrast->cases, 12U);
  EXPECT_EQ(contrast->rounds, 10);
  EXPECT_DOUBLE_EQ(contrast->difference(), -0.2);
  EXPECT_LT(contrast->PBelow(0.0), 0.001);
  EXPECT_GT(contrast->PAbove(-0.2), 0.4);
  EXPECT_LT(contrast->PAbove(-0.4), 0.001);
  EXPECT_TRUE(contrast->Range().Contains(-0.2));
  EXPECT_LT(contrast->Range(0.5).high - contrast->Range(0.5).low, contrast->Range().high - contrast->Range().low);
}

TEST(Contrast, MoreRoundsAreForecast) {
  const auto contrast = MakeContrast(MakeAnswers("a", 12, 3), MakeAnswers("b", 12, 3));
  ASSERT_TRUE(contrast.ok());
  EXPECT_GT(contrast->PAbove(-0.05), 0.05);
  const std::optional<int> more = contrast->MoreFor(-0.05, 0.05);
  ASSERT_TRUE(more.has_value());
  const auto after = [](int rounds) {
    ChoiceAnswers a = MakeAnswers("a", 12, rounds);
    a.any_look = true;  // they are more than were planned
    return MakeContrast(a, MakeAnswers("b", 12, rounds))->PAbove(-0.05);
  };
  EXPECT_LE(after(3 + *more), 0.05);
  EXPECT_GT(after(2 + *more), 0.05);
  EXPECT_FALSE(MakeContrast(MakeAnswers("a", 12, 3, 10), MakeAnswers("b", 12, 3))->MoreFor(-0.05, 0.05));
}

// A server with a cache gives the answer of the first round again. One case that varies doesn't make evidence of the
// others' copies.
TEST(Contrast, CopiesCountOnceUnlessMostCasesVary) {
  const auto contrast_of = [](std::size_t varying) {
    ChoiceAnswers a = MakeAnswers("a", 12, 6);
    ChoiceAnswers b = MakeAnswers("b", 12, 6);
    for (std::size_t round = 0; round < 6; ++round) {
      for (std::size_t i = 0; i < 12; ++i)
        a.rounds[round][i].text = b.rounds[round][i].text = 1 + (i < varying ? round : 0);
    }
    return *MakeContrast(a, b);
  };
  EXPECT_TRUE(contrast_of(0).answers_repeat);
  EXPECT_FALSE(contrast_of(1).answers_repeat);
  const double once = MakeContrast(MakeAnswers("a", 12, 1), MakeAnswers("b", 12, 1))->PAbove(-0.05);
  EXPECT_DOUBLE_EQ(contrast_of(0).PAbove(-0.05), once);
  EXPECT_DOUBLE_EQ(contrast_of(1).PAbove(-0.05), once);
  EXPECT_LT(contrast_of(6).PAbove(-0.05), 0.05);
}

// Ten looks at equal choices would show something false too often with a test for a fixed number of rounds.
TEST(Contrast, ARunThatMayHaveStoppedEarlyNeedsMore) {
  ChoiceAnswers a = MakeAnswers("a", 12, 6);
  const ChoiceAnswers b = MakeAnswers("b", 12, 6);
  EXPECT_LE(MakeContrast(a, b)->PAbove(-0.05), 0.05);
  a.any_look = true;
  EXPECT_TRUE(MakeContrast(a, b)->anytime);
  EXPECT_GT(MakeContrast(a, b)->PAbove(-0.05), 0.05);
  EXPECT_GT(MakeContrast(a, b)->Range().high, MakeContrast(b, MakeAnswers("c", 12, 6))->Range().high);
}

TEST(Contrast, CopiesAreNoEvidence) {
  ChoiceAnswers a = MakeAnswers("a", 12, 10);
  ChoiceAnswers b = MakeAnswers("b", 12, 10);
  for (ChoiceAnswers* one : {&a, &b}) {
    one->greedy = true;
    for (auto& row : one->rounds) {
      for (ChoiceAnswer& answer : row) answer.text = 7;
    }
  }
  const auto contrast = MakeContrast(a, b);
  ASSERT_TRUE(contrast.ok());
  EXPECT_TRUE(contrast->answers_repeat);
  EXPECT_GT(contrast->PAbove(-0.05), 0.05);
  EXPECT_GT(contrast->MoreFor(-0.05, 0.05).value_or(0), 20) << "counts cases";
}

TEST(Contrast, CasesWithOneRequestAreOneUnit) {
  ChoiceAnswers a = MakeAnswers("a", 12, 6);
  ChoiceAnswers b = MakeAnswers("b", 12, 6);
  EXPECT_LE(MakeContrast(a, b)->PAbove(-0.05), 0.05);
  for (ChoiceAnswers* one : {&a, &b}) one->requests.assign(12, "the same");
  EXPECT_GT(MakeContrast(a, b)->PAbove(-0.05), 0.2);
}

// Three cases of one request lose, one of another wins: a draw of two requests.
TEST(Contrast, EachRequestCountsOnce) {
  ChoiceAnswers a = MakeAnswers("a", 4, 1, 3);
  ChoiceAnswers b = MakeAnswers("b", 4, 1);
  b.rounds[0][3].passed = false;
  for (ChoiceAnswers* one : {&a, &b}) one->requests = {"the same", "the same", "the same", "another"};
  EXPECT_DOUBLE_EQ(MakeContrast(a, b)->difference(), 0.0);
}

TEST(Contrast, ErrorsExcludeTheirCaseAndOpenCellsEndTheRounds) {
  ChoiceAnswers a = MakeAnswers("a", 4, 3);
  const ChoiceAnswers b = MakeAnswers("b", 4, 3);
  a.rounds[1][2].state = ChoiceAnswer::State::kFailed;
  a.rounds[2][0].state = ChoiceAnswer::State::kOpen;
  const auto contrast = MakeContrast(a, b);
  ASSERT_TRUE(contrast.ok());
  EXPECT_THAT(contrast->excluded, ElementsAre("case-3"));
  EXPECT_EQ(contrast->cases, 3U);
  EXPECT_EQ(contrast->rounds, 2);
}

// Timeouts that take the failing answers of A, retried until they pass, must not make it as good as B.
TEST(Contrast, LostAnswersTellAgainstEveryClaim) {
  ChoiceAnswers a = MakeAnswers("a", 12, 10);
  const ChoiceAnswers b = MakeAnswers("b", 12, 10);
  EXPECT_LE(MakeContrast(a, b)->PAbove(-0.05), 0.05);
  for (int round = 0; round < 10; ++round) a.rounds[static_cast<std::size_t>(round)][0].lost = true;
  const auto contrast = MakeContrast(a, b);
  ASSERT_TRUE(contrast.ok());
  EXPECT_DOUBLE_EQ(contrast->difference(), 0.0);
  EXPECT_GT(contrast->PAbove(-0.05), 0.05);
  EXPECT_LT(contrast->Range().low, -0.08);
  EXPECT_LE(contrast->PAbove(-0.2), 0.05);
}

TEST(Contrast, TooManyExcludedCasesShowNothing) {
  ChoiceAnswers a = MakeAnswers("a", 12, 10);
  for (std::size_t i = 0; i < 3; ++i) a.rounds[0][i].state = ChoiceAnswer::State::kFailed;
  const auto contrast = MakeContrast(a, MakeAnswers("b", 12, 10));
  ASSERT_TRUE(contrast.ok());
  EXPECT_TRUE(contrast->too_many_excluded);
  EXPECT_EQ(contrast->PAbove(-0.5), 1.0);
  EXPECT_FALSE(contrast->MoreFor(-0.5, 0.05));
}

TEST(Contrast, AnOutageExcludesNoCase) {
  ChoiceAnswers a = MakeAnswers("a", 4, 3);
  for (std::size_t i = 0; i < 3; ++i) a.rounds[1][i].state = ChoiceAnswer::State::kFailed;
  const auto contrast = MakeContrast(a, MakeAnswers("b", 4, 3));
  ASSERT_TRUE(contrast.ok());
  EXPECT_EQ(contrast->cases, 4U);
  EXPECT_EQ(contrast->rounds, 2);
}

TEST(Contrast, CasesArePairedByWhatTheyAre) {
  ChoiceAnswers a = MakeAnswers("a", 3, 1, 1);
  ChoiceAnswers b = MakeAnswers("b", 3, 1, 1);
  std::swap(b.cases[0], b.cases[2]);
  std::swap(b.questions[0], b.questions[2]);
  std::swap(b.rounds[0][0], b.rounds[0][2]);
  EXPECT_DOUBLE_EQ(MakeContrast(a, b)->difference(), 0.0);
  EXPECT_LT(MakeContrast(a, b)->PAbove(-0.9), 0.2) << "every pair is a tie";
}

TEST(Contrast, RefusesWhatCantBeCompared) {
  const ChoiceAnswers a = MakeAnswers("a", 3, 1);
  ChoiceAnswers other = MakeAnswers("b", 3, 1);
  other.questions[1] = "another";
  EXPECT_THAT(MakeContrast(a, other).error().message, HasSubstr("case 'case-2' differs"));
  EXPECT_THAT(MakeContrast(a, MakeAnswers("b", 4, 1)).error().message, HasSubstr("more cases"));
  other = MakeAnswers("b", 3, 1);
  other.system_prompt = "x";
  EXPECT_THAT(MakeContrast(a, other).error().message, HasSubstr("system prompts"));
  other = MakeAnswers("b", 3, 1);
  other.max_tokens = 128;
  EXPECT_THAT(MakeContrast(a, other).error().message, HasSubstr("0 and 128 tokens an answer"));
  other = MakeAnswers("b", 3, 1);
  other.temperature = 0.0;
  EXPECT_THAT(MakeContrast(a, other).error().message, HasSubstr("different temperatures"));
  other = MakeAnswers("b", 3, 0);
  EXPECT_THAT(MakeContrast(a, other).error().message, HasSubstr("no round was answered by both"));
}

TEST(Contrast, CostTokensAndTime) {
  const auto contrast = MakeContrast(MakeAnswers("a", 6, 2, 0, 0.002), MakeAnswers("b", 6, 2, 0, 0.001));
  ASSERT_TRUE(contrast.ok() && contrast->cost_usd);
  EXPECT_DOUBLE_EQ(*contrast->cost_usd->ratio(), 2.0);
  EXPECT_TRUE(contrast->cost_usd->Ratio(0.95)->Contains(2.0));
  EXPECT_GT(contrast->cost_usd->Ratio(0.95)->high, 2.0) << "equal answers don't rule out others";
  EXPECT_NEAR(contrast->tokens->mean_a(), 102.5, 1e-9);
  EXPECT_LT(contrast->tokens->Difference(0.95)->low, 0.0);
  ChoiceAnswers unknown = MakeAnswers("c", 6, 2);
  unknown.rounds[1][3].cost_usd.reset();
  EXPECT_FALSE(MakeContrast(unknown, MakeAnswers("b", 6, 2))->cost_usd);
}

}  // namespace
}  // namespace upskill
