// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stats/e_process.h"
#include "stats/power.h"
#include "util/rng.h"

namespace upskill {

// A suite of cases with known pass rates.
struct Scenario {
  std::string name;
  std::vector<CaseRates> cases;

  double lift() const {
    double sum = 0.0;
    for (const CaseRates& one : cases) sum += one.with - one.without;
    return sum / static_cast<double>(cases.size());
  }
  // The expected number of changes of answers, which decides whether intervals are close to normal.
  double variance(int rounds) const {
    double sum = 0.0;
    for (const CaseRates& one : cases) sum += one.with * (1.0 - one.with) + one.without * (1.0 - one.without);
    return sum * rounds;
  }
};

Scenario MakeScenario(const std::string& name, int cases, const std::function<CaseRates(int)>& rates);

// Suites without a lift: equal cases; cases that differ; lifts that cancel out (with an odd number of cases, one has no
// lift).
std::vector<Scenario> NullScenarios(int cases);

// Those and suites with a lift.
std::vector<Scenario> AllScenarios(int cases);

void AddRound(const Scenario& scenario, Rng& rng, PairCounts& totals);

}  // namespace upskill
