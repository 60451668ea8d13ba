// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "stats/e_process.h"
#include "stats/exact_tests.h"

namespace upskill {

inline constexpr double kAlpha = 0.05;
inline constexpr double kLiftCoverage = 0.94;  // of the 95 % interval for these cases, at least
inline constexpr double kLiftCoverageOf99 = 0.985;
inline constexpr double kNewCasesCoverage = 0.92;  // of the interval for new cases
inline constexpr double kStoppedCoverage = 0.935;  // of the interval after stopping early
inline constexpr double kMedianBias = 0.05;        // of the estimate after stopping early, from three cases on
inline constexpr double kMedianBiasOfOne = 0.1;    // the same with one case, whose answers may hardly vary
inline constexpr double kForecastLow = 0.4;        // share of forecasts that come true, lifts drawn evenly
inline constexpr double kForecastHigh = 0.6;

inline double StandardError(double share, int draws) { return std::sqrt(share * (1.0 - share) / draws); }

// Collects the claims of docs/verdicts.md that are missed.
class Claims {
 public:
  void AtMost(double share, double bound, int draws, const std::string& what) {
    if (share > bound + 4.0 * StandardError(bound, draws)) Miss(share, "more", bound, what);
  }
  void AtLeast(double share, double bound, int draws, const std::string& what) {
    if (share < bound - 4.0 * StandardError(bound, draws)) Miss(share, "less", bound, what);
  }
  void Within(double value, double bound, double standard_error, const std::string& what) {
    if (std::abs(value) > bound + 4.0 * standard_error) Miss(std::abs(value), "more", bound, what);
  }
  // For a probability that was computed, not simulated.
  void Bound(double probability, double bound, const std::string& what) {
    if (probability > bound * (1.0 + 1e-9)) Miss(probability, "more", bound, what);
  }
  int Conclude() const {
    fmt::print("\n{}", misses_.empty() ? "every claim holds\n" : misses_);
    return misses_.empty() ? 0 : 1;
  }

 private:
  void Miss(double share, const char* than, double bound, const std::string& what) {
    misses_ += fmt::format("MISSED: {}: {:.2f} %, {} than {:.2f} %\n", what, 100.0 * share, than, 100.0 * bound);
  }
  std::string misses_;
};

inline std::string Percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }

// A one-sided sign test at level alpha, as a table.
class SignTable {
 public:
  explicit SignTable(int most) {
    for (int n = 0; n <= most; ++n) {
      int fewest = fewest_.empty() ? 1 : fewest_.back();
      while (fewest <= n && SignTest(fewest, n - fewest) > kAlpha) ++fewest;
      fewest_.push_back(fewest);
    }
  }
  bool Decides(const PairCounts& totals) const {
    return totals.wins >= fewest_[static_cast<std::size_t>(totals.wins + totals.losses)];
  }

 private:
  std::vector<int> fewest_;  // wins that decide, by wins + losses
};

// The parts of verdict_simulation.
void PrintFalseVerdicts(int draws, Claims& claims);
void PrintSituations(int draws, Claims& claims);
void PrintMultiplicity(int draws, Claims& claims);
void PrintLineages(int draws, Claims& claims);
void PrintGeneral(int draws, Claims& claims);
void PrintCoverage(int draws, Claims& claims);
void PrintAfterStopping(int draws, Claims& claims);
void PrintPower(int draws, Claims& claims);
void PrintForecast(int draws, Claims& claims);
void PrintGuard(int draws, Claims& claims);

}  // namespace upskill
