// SPDX-License-Identifier: Apache-2.0
#include "verdict_suites.h"

#include <fmt/format.h>

namespace upskill {
namespace {

const std::vector<double> kRates = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98};

double Half(int i, double even, double odd) { return i % 2 == 0 ? even : odd; }

}  // namespace

Scenario MakeScenario(const std::string& name, int cases, const std::function<CaseRates(int)>& rates) {
  Scenario scenario{name, {}};
  for (int i = 0; i < cases; ++i) scenario.cases.push_back(rates(i));
  return scenario;
}
std::vector<Scenario> NullScenarios(int cases) {
  std::vector<Scenario> scenarios;
  for (const double rate : kRates) {
    scenarios.push_back(
        MakeScenario(fmt::format("all {:.2f}", rate), cases, [=](int) { return CaseRates{rate, rate}; }));
  }
  scenarios.push_back(MakeScenario("half 0.02, half 0.98", cases,
                                   [](int i) { return CaseRates{Half(i, .02, .98), Half(i, .02, .98)}; }));
  scenarios.push_back(
      MakeScenario("half 0.1, half 0.9", cases, [](int i) { return CaseRates{Half(i, .1, .9), Half(i, .1, .9)}; }));
  scenarios.push_back(MakeScenario("0.02 to 0.98 evenly", cases, [=](int i) {
    const double rate = 0.02 + 0.96 * (i + 0.5) / cases;
    return CaseRates{rate, rate};
  }));
  scenarios.push_back(MakeScenario("half 0.7>0.3, half 0.3>0.7", cases, [=](int i) {
    return i + 1 == cases && i % 2 == 0 ? CaseRates{.5, .5} : CaseRates{Half(i, .7, .3), Half(i, .3, .7)};
  }));
  scenarios.push_back(MakeScenario("half 0.98>0.02, half back", cases, [=](int i) {
    return i + 1 == cases && i % 2 == 0 ? CaseRates{.5, .5} : CaseRates{Half(i, .98, .02), Half(i, .02, .98)};
  }));
  return scenarios;
}

std::vector<Scenario> AllScenarios(int cases) {
  std::vector<Scenario> scenarios = NullScenarios(cases);
  for (const double without : kRates) {
    for (const double with : kRates) {
      if (with <= without) continue;
      scenarios.push_back(MakeScenario(fmt::format("all {:.2f}>{:.2f}", without, with), cases,
                                       [=](int) { return CaseRates{without, with}; }));
    }
  }
  scenarios.push_back(
      MakeScenario("half 0.02, half 0.98 > 0.98", cases, [](int i) { return CaseRates{Half(i, .02, .98), .98}; }));
  scenarios.push_back(
      MakeScenario("half 0.1, half 0.9 > 0.9", cases, [](int i) { return CaseRates{Half(i, .1, .9), .9}; }));
  scenarios.push_back(MakeScenario("half 0.3>0.7, half 0.7>0.9", cases,
                                   [](int i) { return CaseRates{Half(i, .3, .7), Half(i, .7, .9)}; }));
  scenarios.push_back(
      MakeScenario("one 0.3>0.98, others 0.3", cases, [](int i) { return CaseRates{.3, i == 0 ? .98 : .3}; }));
  return scenarios;
}

void AddRound(const Scenario& scenario, Rng& rng, PairCounts& totals) {
  for (const CaseRates& one : scenario.cases) {
    const bool without = rng.Uniform() < one.without;
    totals.Add(without, rng.Uniform() < one.with);
  }
}

}  // namespace upskill
