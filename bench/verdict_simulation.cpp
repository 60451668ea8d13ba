// SPDX-License-Identifier: Apache-2.0
// Measures what docs/verdicts.md claims: false verdicts when a run is looked at after every round, the coverage of the
// intervals, and power. For each claim, the suite for which it is nearest to failing is searched first and measured
// with other seeds after that. One argument: draws per measurement (default 20000; several minutes
// on one processor). ± is one Monte Carlo standard error. Exits with 1 when a claim is missed by more than four of
// them.
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
  upskill::PrintSituations(draws, claims);
  upskill::PrintMultiplicity(draws, claims);
  upskill::PrintLineages(draws / 4, claims);
  upskill::PrintGeneral(draws, claims);
  upskill::PrintCoverage(draws, claims);
  upskill::PrintAfterStopping(draws, claims);
  upskill::PrintPower(draws / 4, claims);
  upskill::PrintForecast(draws / 10, claims);
  upskill::PrintGuard(draws, claims);
  return claims.Conclude();
}
