// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "stats/bounded_mean.h"
#include "stats/exact_tests.h"
#include "stats/spending.h"
#include "verdict_claims.h"
#include "verdict_run.h"
#include "verdict_search.h"

namespace upskill {
namespace {

// A population of cases: a suite of which each case of a run is drawn, with replacement.
constexpr int kKindsOfPopulation = 100;

struct GeneralRates {
  double helps = 0.0;       // claimed in general, at any scheduled look
  double sign_flips = 0.0;  // by a sign-flip test of case means after the last round, for comparison
  double missed = 0.0;      // the interval for new cases doesn't contain the mean lift
};

struct GeneralRun {
  int cases = 12;
  int rounds = 10;
  int draws = 200;
  std::uint64_t seed = 1;
  bool only_interval = false;
};

double MeanLift(const std::vector<CaseRates>& population) {
  double sum = 0.0;
  for (const CaseRates& one : population) sum += one.with - one.without;
  return sum / static_cast<double>(population.size());
}

// P-values that are far too large needn't be exact.
bool ShowsGeneralLift(const std::vector<double>& lifts, double level) {
  constexpr double kFarTooLarge = 1.5;
  return BoundedMeanSaddlepoint(lifts) <= kFarTooLarge * level && BoundedMeanTest(lifts) <= level;
}

// Whether the 95 % interval for new cases, which consists of the means that BoundedMeanTest doesn't reject, misses this
// one. The test is asked only if the mean of the sample is a good standard error away.
bool Misses(const std::vector<double>& lifts, double truth) {
  constexpr double kLevel = 0.025;
  constexpr double kNear = 1.2;
  constexpr double kRounding = 1e-9;
  if (std::abs(truth) > 1.0 - kRounding) return false;  // the ends of the scale are always in the interval
  const auto n = static_cast<double>(lifts.size());
  double sum = 0.0;
  double squares = 0.0;
  for (const double lift : lifts) {
    sum += lift - truth;
    squares += (lift - truth) * (lift - truth);
  }
  if (std::abs(sum) < kNear * std::sqrt(squares - sum * sum / n)) return false;
  std::vector<double> upwards = lifts;
  if (sum < 0.0) {
    for (double& lift : upwards) lift = -lift;
  }
  return BoundedMeanTest(upwards, sum < 0.0 ? -truth : truth) <= kLevel;
}

GeneralRates SimulateGeneral(const std::vector<CaseRates>& population, const GeneralRun& run) {
  Rng rng(run.seed);
  const std::vector<ScheduledLook> looks = ScheduledLooks(run.rounds, run.rounds);
  const double truth = MeanLift(population);
  GeneralRates rates;
  const auto cases = static_cast<std::size_t>(run.cases);
  for (int draw = 0; draw < run.draws; ++draw) {
    SimulatedSuite suite;
    for (std::size_t i = 0; i < cases; ++i) {
      suite.units.push_back(
          population[static_cast<std::size_t>(rng.Uniform() * static_cast<double>(population.size()))]);
    }
    std::vector<std::int64_t> sums(cases, 0);
    std::vector<double> lifts(cases, 0.0);
    bool helps = false;
    for (int round = 1; round <= run.rounds; ++round) {
      const std::vector<double> of_round = DrawRound(suite, rng);
      for (std::size_t i = 0; i < cases; ++i) {
        sums[i] += std::llround(of_round[i]);
        lifts[i] = static_cast<double>(sums[i]) / round;
      }
      for (const ScheduledLook& look : looks) {
        if (look.round == round && !helps && !run.only_interval) helps = ShowsGeneralLift(lifts, kAlpha * look.share);
      }
    }
    rates.helps += helps ? 1.0 : 0.0;
    if (!run.only_interval) rates.sign_flips += SignFlipTest(sums).value_or(1.0) <= kAlpha ? 1.0 : 0.0;
    if (run.only_interval) rates.missed += Misses(lifts, truth) ? 1.0 : 0.0;
  }
  return {rates.helps / run.draws, rates.sign_flips / run.draws, rates.missed / run.draws};
}

}  // namespace

void PrintGeneral(int draws, Claims& claims) {
  fmt::print(
      "\n6. False `helps in general`, in %, at any scheduled look, for new cases from populations whose mean "
      "lift is "
      "0;\n   searched with 300 draws, then measured with new ones; beside it what a sign-flip test of case means "
      "would say "
      "there "
      "\n\n");
  fmt::print("   cases  rounds   helps         sign flips   worst population (in % of the cases)\n");
  const int many = draws / 4;
  for (const auto& [cases, rounds] :
       std::vector<std::pair<int, int>>{{6, 3}, {6, 20}, {12, 3}, {12, 20}, {25, 10}, {100, 5}}) {
    GeneralRun run{cases, rounds, 300, 31};
    const WorstSuite worst = SearchWorst({kKindsOfPopulation, 0.0, 80, 4}, [&](const auto& population) {
      return SimulateGeneral(population, run).helps;
    });
    run = {cases, rounds, many, 32};
    const GeneralRates rates = SimulateGeneral(worst.cases, run);
    claims.AtMost(rates.helps, kAlpha, many, fmt::format("false helps in general, {} cases", cases));
    fmt::print("   {:>5}  {:>6}   {:>4} ± {:<5.2f}  {:>10}   {}\n", cases, rounds, Percent(rates.helps),
               100 * StandardError(rates.helps, many), Percent(rates.sign_flips), SuiteText(worst.cases));
  }
  fmt::print(
      "\n7. Coverage of the 95 % interval for new cases, in %: populations with mean lifts of 0 to 40 points; searched "
      "for "
      "the\n   lowest, then measured with new draws\n\n");
  fmt::print("   cases  rounds   lowest        at 40 > 65 %   worst population (in % of the cases)\n");
  for (const auto& [cases, rounds] :
       std::vector<std::pair<int, int>>{{6, 3}, {6, 20}, {12, 3}, {12, 20}, {25, 10}, {50, 3}, {50, 20}}) {
    const GeneralRun search{cases, rounds, 300, 33, true};
    const WorstSuite worst = SearchWorst({kKindsOfPopulation, std::nullopt, 100, 5}, [&](const auto& population) {
      return SimulateGeneral(population, search).missed;
    });
    const GeneralRun run{cases, rounds, many, 34, true};
    const double share = 1.0 - SimulateGeneral(worst.cases, run).missed;
    const std::vector<CaseRates> usual(kKindsOfPopulation, CaseRates{0.4, 0.65});
    claims.AtLeast(share, kNewCasesCoverage, many, fmt::format("coverage for new cases, {} cases", cases));
    fmt::print("   {:>5}  {:>6}   {:>4} ± {:<5.2f}  {:>12}   {}\n", cases, rounds, Percent(share),
               100 * StandardError(share, many), Percent(1.0 - SimulateGeneral(usual, run).missed),
               SuiteText(worst.cases));
  }
}

}  // namespace upskill
