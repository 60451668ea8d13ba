// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stats/power.h"

namespace upskill {

// Searches the suite for which a quantity, such as the frequency of false verdicts, is largest: an evolution strategy
// over suites of up to four kinds of cases, begun from equal cases, mixtures, lifts that cancel out and single cases
// that change completely. Suites are scaled to the lift that they must have.
struct SearchSettings {
  int cases = 12;
  std::optional<double> lift = 0.0;  // of every suite tried; absent: any
  int evaluations = 120;             // of the quantity
  std::uint64_t seed = 1;
};

struct WorstSuite {
  std::vector<CaseRates> cases;
  double value = 0.0;  // as the search saw it: too large if it is an average of random draws
};

using Quantity = std::function<double(const std::vector<CaseRates>&)>;

WorstSuite SearchWorst(const SearchSettings& settings, const Quantity& quantity);

// "3 × 0.50>0.50, 1 × 0.98>0.02": equal cases together.
std::string SuiteText(const std::vector<CaseRates>& cases);

}  // namespace upskill
