// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "util/rng.h"

namespace upskill {

// What is true of the simulated students on one case.
struct CaseTruth {
  double without = 0.5;  // probability of passing
  double with = 0.5;
  int input = 0;  // cases with the same number have the same input and rates, and so the same answers
};

// One line of `upskill selftest`: a situation, measured in many simulated runs.
struct SelftestLine {
  std::string name;
  std::function<std::vector<CaseTruth>(Rng&)> draw;  // the cases of one run
  int students = 1;                                  // all alike
  double margin = VerdictOptions().margin;
  std::string settings;    // of the simulated students, in addition
  int runs_divisor = 1;    // lines with many cells are measured in fewer runs
  bool new_cases = false;  // each run draws new cases, with a mean lift of 0 over all possible ones
};

// The mean lift on these cases; each input counts once.
double LiftOf(const std::vector<CaseTruth>& cases);

// The lines for suites of `cases` cases.
std::vector<SelftestLine> SelftestLines(int cases);

}  // namespace upskill
