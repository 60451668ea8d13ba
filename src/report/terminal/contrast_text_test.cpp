// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/contrast_text.h"

#include <gmock/gmock.h>

#include "support/answers_fixture.h"
#include "support/run_fixture.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Style kPlainContrast{false, 120};

TEST(WordFor, WhatAContrastShows) {
  const auto word = [](int losses_a, int losses_b, int rounds) {
    return WordFor(*MakeContrast(MakeAnswers("b", 12, rounds, losses_b), MakeAnswers("a", 12, rounds, losses_a)), 0.05);
  };
  EXPECT_EQ(word(40, 0, 10), ContrastWord::kBetter);
  EXPECT_EQ(word(0, 40, 10), ContrastWord::kWorse);
  EXPECT_EQ(word(0, 0, 10), ContrastWord::kNotWorse);
  EXPECT_EQ(word(0, 0, 1), ContrastWord::kNotShown);
}

TEST(ContrastsText, DifferenceResultAndPrices) {
  const std::vector<NamedContrast> contrasts = {
      ContrastBWithA(MakeAnswers("opus", 12, 10, 0, 0.01), MakeAnswers("haiku", 12, 10, 0, 0.001)),
      ContrastBWithA(MakeAnswers("opus", 12, 10), MakeAnswers("haiku", 11, 10))};
  const std::string text = ContrastsText(contrasts, 0.05, kPlainContrast).text();
  EXPECT_THAT(text, HasSubstr("opus without the skill → haiku without the skill  0 points (-3 … +3)"));
  EXPECT_THAT(text, HasSubstr("-90 %"));
  EXPECT_THAT(text, HasSubstr("haiku without the skill: B is not worse by more than 5 points\n"));
  EXPECT_THAT(text, HasSubstr("not compared: "));
  ChoiceAnswers later = MakeAnswers("opus", 12, 12);
  later.run = "later";
  EXPECT_THAT(
      ContrastsText(std::vector{ContrastBWithA(MakeAnswers("opus", 12, 10), later)}, 0.05, kPlainContrast).text(),
      HasSubstr(", in the 10 rounds that both runs have: B is not worse"));
}

TEST(ContrastsText, HostileNames) {
  const std::string text =
      ContrastsText(std::vector{ContrastBWithA(MakeAnswers(kHostile, 2, 2), MakeAnswers(kHostile, 2, 2)),
                                ContrastBWithA(MakeAnswers(kHostile, 2, 2), MakeAnswers(kHostile, 3, 2))},
                    0.05, kPlainContrast)
          .text();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ContrastsToJson, Form) {
  const Json json = ContrastsToJson(
      std::vector{ContrastBWithA(MakeAnswers("a", 12, 10, 24, 0.01), MakeAnswers("b", 12, 10, 0, 0.001)),
                  ContrastBWithA(MakeAnswers("a", 12, 10), MakeAnswers("b", 11, 10))},
      0.05);
  const Json& first = json.at(0);
  EXPECT_EQ(first.at("result"), "better");
  EXPECT_DOUBLE_EQ(first.at("difference").get<double>(), 0.2);
  EXPECT_EQ(first.at("a"), Json::parse(R"({"run": "run", "model": "a", "arm": "baseline"})"));
  EXPECT_NEAR(first.at("cost_usd").at("ratio").get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(first.at("cost_usd").at("a").get<double>(), 0.01055, 1e-9);
  EXPECT_LT(first.at("p_better").get<double>(), 0.001);
  EXPECT_TRUE(first.at("more_cases").is_null());
  EXPECT_TRUE(first.at("problem").is_null());
  EXPECT_THAT(json.at(1).at("problem").get<std::string>(), HasSubstr("can't be compared"));
}

}  // namespace
}  // namespace upskill
