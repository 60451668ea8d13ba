// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/gate_forecast.h"

#include <gmock/gmock.h>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The error, else the warnings, one a line; "" for none.
std::string Forecast(const std::string& gate, int cases, int rounds, std::optional<double> temperature = {}) {
  Plan plan = MakeTestPlan(cases, rounds, {"haiku", "opus"});
  plan.sampling.temperature = temperature;
  const Result<std::vector<std::string>> warnings = ForecastGate(*ParseGate(gate), plan);
  if (!warnings) return "error: " + warnings.error().message;
  std::string out;
  for (const std::string& warning : *warnings) out += warning + "\n";
  return out;
}

TEST(ForecastGate, WhatCannotHoldIsAnError) {
  EXPECT_THAT(Forecast("pass>80%", 12, 1),
              AllOf(HasSubstr("error: gate clause 'pass>80%': 12 cases × 1 round are too few for it to hold"),
                    HasSubstr("it needs --runs 2, or more cases")));
  EXPECT_EQ(Forecast("pass>80%", 14, 1), "");
  EXPECT_THAT(Forecast("lift>10", 3, 1), HasSubstr("error: "));
  EXPECT_EQ(Forecast("lift>10", 12, 3), "");
  EXPECT_THAT(Forecast("helps:*", 3, 1), HasSubstr("error: "));
  EXPECT_EQ(Forecast("helps:*", 12, 3), "");
  EXPECT_THAT(Forecast("pass>99%", 12, 1), HasSubstr("it needs --runs 25, or more cases"));
}

TEST(ForecastGate, AGuardThatCannotFailIsAnError) {
  EXPECT_THAT(Forecast("not-regressed vs baseline", 2, 1),
              AllOf(HasSubstr("error: "), HasSubstr("too few"), HasSubstr("--runs 2, or more cases")));
  EXPECT_EQ(Forecast("not-regressed vs baseline", 6, 1), "");
}

TEST(ForecastGate, AtTemperature0MoreRoundsAreNoHelp) {
  EXPECT_THAT(Forecast("pass>80%", 12, 5, 0.0), HasSubstr("it needs more cases"));
}

TEST(ForecastGate, WhatAnEqualSkillCannotShowIsAWarning) {
  EXPECT_THAT(
      Forecast("not-hurts:*", 12, 3),
      AllOf(HasSubstr("gate clause 'not-hurts:*': with 12 cases × 3 rounds, it can only hold if the skill helps"),
            HasSubstr("5 points takes --runs ")));
  EXPECT_EQ(Forecast("not-hurts:*:20", 12, 3), "");
  EXPECT_THAT(Forecast("not-worse:haiku+skill vs opus", 12, 1), HasSubstr("if the first choice is better"));
}

TEST(ForecastGate, EstimatesAndCostsAreNotForeseen) {
  EXPECT_EQ(Forecast("pass>80%@estimate; tokens<20%; cost<0; hurts:*", 12, 1), "");
}

}  // namespace
}  // namespace upskill
