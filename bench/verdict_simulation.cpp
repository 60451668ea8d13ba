// SPDX-License-Identifier: Apache-2.0
// Simulates what docs/verdicts.md claims: false verdicts when a run is looked at after every round, the coverage of the
// intervals, and power. One argument: draws per scenario (default 20000, about two minutes on one processor). Seeds are
// fixed; ± is one Monte Carlo standard error. Exits with 1 when a claim is missed by more than four of them.
#include <fmt/format.h>

#include <cstdlib>

#include "verdict_claims.h"

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 20000;
  if (draws < 100) {
    fmt::print(stderr, "usage: verdict_simulation [DRAWS, at least 100]\n");
    return 2;
  }
  upskill::Claims claims;
  upskill::PrintFalseVerdicts(draws, claims);
  upskill::PrintMultiplicity(draws, claims);
  upskill::PrintLiftCoverage(draws / 2, claims);
  upskill::PrintNewCasesCoverage(draws / 2, claims);
  upskill::PrintSequenceCoverage(draws / 10, claims);
  upskill::PrintPower(draws / 2, claims);
  return claims.Conclude();
}
