// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/stage_wise.h"
#include "verdict_claims.h"
#include "verdict_run.h"
#include "verdict_search.h"

namespace upskill {
namespace {

constexpr double kRounding = 1e-6;

double LiftOfCases(const std::vector<CaseRates>& cases) {
  double sum = 0.0;
  for (const CaseRates& one : cases) sum += one.with - one.without;
  return sum / static_cast<double>(cases.size());
}

bool Holds(const Interval& interval, double lift) {
  return interval.low <= lift + kRounding && lift - kRounding <= interval.high;
}

struct Coverage {
  double share = 0.0;
  double width = 0.0;
};

Coverage CoverageOfLift(const std::vector<CaseRates>& cases, int rounds, double confidence, int draws,
                        std::uint64_t seed) {
  Rng rng(seed);
  const double lift = LiftOfCases(cases);
  Coverage coverage;
  std::vector<PairCounts> counts(cases.size());
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      counts[i] = {};
      for (int round = 0; round < rounds; ++round) {
        const bool without = rng.Uniform() < cases[i].without;
        counts[i].Add(without, rng.Uniform() < cases[i].with);
      }
    }
    const Interval interval = LiftInterval(counts, confidence).value_or(Interval{});
    coverage.share += Holds(interval, lift) ? 1.0 : 0.0;
    coverage.width += interval.high - interval.low;
  }
  return {coverage.share / draws, coverage.width / draws};
}

// What is printed of a run that stops when the sign-flip test has decided.
struct AfterStopping {
  double bias = 0.0;  // median of (the median-unbiased estimate − the lift)
  double bias_error = 0.0;
  double below = 0.0;     // the median-unbiased estimate is below the lift, …
  double above = 0.0;     // … or above it
  double mean = 0.0;      // of the estimate
  double naive = 0.0;     // the interval for a fixed number of rounds holds the lift
  double raw_mean = 0.0;  // of wins − losses by pair
  double rounds = 0.0;    // mean
};

// The median of these values and its standard error.
std::pair<double, double> MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto at = [&](double share) { return values[static_cast<std::size_t>(std::clamp(share * n, 0.0, n - 1.0))]; };
  const double half = 0.5 / std::sqrt(n);
  return {at(0.5), 0.5 * (at(0.5 + half) - at(0.5 - half))};
}

AfterStopping Stop(const std::vector<CaseRates>& cases, int planned, int draws, std::uint64_t seed) {
  Rng rng(seed);
  const SimulatedSuite suite{cases, {}};
  const double lift = LiftOfCases(cases);
  const SpendingSchedule schedule(planned);
  AfterStopping sum;
  std::vector<double> errors;
  for (int draw = 0; draw < draws; ++draw) {
    SignFlipSequence sequence(kAlpha, schedule);
    std::vector<std::vector<double>> rounds;
    std::vector<PairCounts> counts(cases.size());
    while (static_cast<int>(rounds.size()) < planned && sequence.helps_round() == 0 && sequence.hurts_round() == 0) {
      rounds.push_back(DrawRound(suite, rng));
      sequence.AddRound(rounds.back());
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i].Add(rounds.back()[i] < 0.0, rounds.back()[i] > 0.0);
    }
    const auto pairs = static_cast<double>(rounds.size() * cases.size());
    const double raw = sequence.sum() / pairs;
    const Interval naive = LiftInterval(counts).value_or(Interval{-1.0, 1.0});
    const StageWiseEstimate estimate =
        StageWiseLift(rounds, sequence.critical(), cases.size()).value_or(StageWiseEstimate{raw, naive});
    errors.push_back(estimate.lift - lift);
    sum.below += estimate.lift < lift - kRounding ? 1.0 : 0.0;
    sum.above += estimate.lift > lift + kRounding ? 1.0 : 0.0;
    sum.mean += estimate.lift;
    sum.naive += Holds(naive, lift) ? 1.0 : 0.0;
    sum.raw_mean += raw;
    sum.rounds += static_cast<double>(rounds.size());
  }
  const auto n = static_cast<double>(draws);
  const auto [bias, bias_error] = MedianOf(std::move(errors));
  return {bias,         bias_error,    sum.below / n,    sum.above / n,
          sum.mean / n, sum.naive / n, sum.raw_mean / n, sum.rounds / n};
}

// The share of runs whose confidence sequence holds the lift after every look.
double SequenceHolds(const std::vector<CaseRates>& cases, int rounds, int draws, std::uint64_t seed) {
  Rng rng(seed);
  const SimulatedSuite suite{cases, {}};
  const double lift = LiftOfCases(cases);
  int held = 0;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    bool holds = true;
    for (int round = 0; round < rounds && holds; ++round) {
      for (const double change : DrawRound(suite, rng)) totals.Add(change < 0.0, change > 0.0);
      const double threshold = std::log(2.0 / kAlpha);
      holds = totals.lift() > lift ? LogEvidence(totals, lift) < threshold
                                   : LogEvidence(totals.Mirrored(), -lift) < threshold;
    }
    held += holds ? 1 : 0;
  }
  return static_cast<double>(held) / draws;
}

// Runs that end when the evidence shows a lift above `min_lift`.
struct AfterEvidence {
  double helps = 0.0;  // share of runs
  double plain = 0.0;  // mean of the measured lift
  double plain_of_helps = 0.0;
  double held = 0.0;  // the confidence sequence at the end holds the lift
};

AfterEvidence StopByEvidence(const std::vector<CaseRates>& cases, double min_lift, int planned, int draws,
                             std::uint64_t seed) {
  Rng rng(seed);
  const SimulatedSuite suite{cases, {}};
  const double lift = LiftOfCases(cases);
  AfterEvidence sum;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    LiftSequence sequence(kAlpha);
    bool helps = false;
    for (int round = 0; round < planned && !helps; ++round) {
      for (const double change : DrawRound(suite, rng)) totals.Add(change < 0.0, change > 0.0);
      sequence.Add(totals);
      helps = LogEvidence(totals, min_lift) >= -std::log(kAlpha);
    }
    sum.helps += helps ? 1.0 : 0.0;
    sum.plain += totals.lift();
    sum.plain_of_helps += helps ? totals.lift() : 0.0;
    sum.held += Holds(sequence.range(), lift) ? 1.0 : 0.0;
  }
  const auto n = static_cast<double>(draws);
  return {sum.helps / n, sum.plain / n, sum.plain_of_helps / std::max(sum.helps, 1.0), sum.held / n};
}

void PrintAfterMinLift(int draws, Claims& claims) {
  fmt::print(
      "\n   With a minimum lift, 12 cases, 20 rounds planned: the lift that is printed is the plain mean\n\n"
      "   lift      minimum   helps   mean   mean where it helps   sequence holds the lift\n");
  for (const auto& [with, min_lift] : std::vector<std::pair<double, double>>{{0.65, 0.05}, {0.65, 0.1}, {0.85, 0.2}}) {
    const std::vector<CaseRates> equal(12, CaseRates{0.4, with});
    const AfterEvidence after = StopByEvidence(equal, min_lift, 20, draws / 4, 58);
    claims.AtLeast(after.held, 1.0 - kAlpha, draws / 4, fmt::format("sequence with minimum lift {}", min_lift));
    fmt::print("   {:<8}  {:>7}   {:>5}   {:>4}   {:>19}   {:>23}\n", Percent(with - 0.4), Percent(min_lift),
               Percent(after.helps), Percent(after.plain), Percent(after.plain_of_helps), Percent(after.held));
  }
}

}  // namespace

void PrintCoverage(int draws, Claims& claims) {
  fmt::print(
      "\n8. Coverage of the intervals for these cases after a fixed number of rounds (95 %, and 99 % as at a second "
      "look), in %;\n   searched for the lowest over all suites, then measured with new draws ({})\n\n",
      draws);
  fmt::print("   level  cases  rounds   lowest        at 50 > 50 %  at 40 > 65 %   worst suite\n");
  for (const auto& [level, claimed] : {std::pair{0.95, kLiftCoverage}, std::pair{0.99, kLiftCoverageOf99}}) {
    for (const int cases : {1, 2, 3, 12, 100}) {
      for (const int rounds : {1, 2, 3, 10}) {
        const double confidence = level;
        const WorstSuite worst = SearchWorst({cases, std::nullopt, 200, 6}, [&](const std::vector<CaseRates>& suite) {
          return 1.0 - CoverageOfLift(suite, rounds, confidence, cases > 50 ? 400 : 1000, 41).share;
        });
        const int many = cases > 50 ? draws / 4 : draws;
        const double share = CoverageOfLift(worst.cases, rounds, confidence, many, 42).share;
        const auto at = [&](double without, double with) {
          const std::vector<CaseRates> equal(static_cast<std::size_t>(cases), CaseRates{without, with});
          return Percent(CoverageOfLift(equal, rounds, confidence, many, 43).share);
        };
        claims.AtLeast(share, claimed, many, fmt::format("coverage at {}, {} cases, {} rounds", level, cases, rounds));
        fmt::print("   {:>5}  {:>5}  {:>6}   {:>4} ± {:<5.2f}  {:>12}  {:>12}   {}\n", Percent(level), cases, rounds,
                   Percent(share), 100 * StandardError(share, many), at(.5, .5), at(.4, .65), SuiteText(worst.cases));
      }
    }
  }
}

void PrintAfterStopping(int draws, Claims& claims) {
  fmt::print(
      "\n9. Runs that stop when decided: how far the median of the estimate is from the lift, in points; searched for "
      "the\n   farthest, then measured with new draws\n\n");
  fmt::print("   cases  planned   off by        plain mean   worst suite\n");
  for (const auto& [cases, planned] : std::vector<std::pair<int, int>>{{1, 20}, {3, 10}, {12, 5}, {12, 20}, {100, 3}}) {
    const int few = cases > 50 ? 100 : 300;
    const int many = cases > 50 ? draws / 20 : draws / 4;
    const WorstSuite worst = SearchWorst(
        {cases, std::nullopt, 70, 8}, [&](const auto& suite) { return std::abs(Stop(suite, planned, few, 53).bias); });
    const AfterStopping stopped = Stop(worst.cases, planned, many, 54);
    claims.Within(stopped.bias, cases > 1 ? kMedianBias : kMedianBiasOfOne, stopped.bias_error,
                  fmt::format("median of the estimate, {} cases", cases));
    fmt::print("   {:>5}  {:>7}   {:>+4.1f} ± {:<4.2f}  {:>+10.1f}   {}\n", cases, planned, 100 * stopped.bias,
               100 * stopped.bias_error, 100 * (stopped.raw_mean - LiftOfCases(worst.cases)), SuiteText(worst.cases));
  }
  fmt::print(
      "\n   40 > 65 % with 12 cases:   mean rounds   below / above   mean estimate   plain mean   coverage of the "
      "plain interval\n");
  for (const int planned : {5, 10, 20}) {
    const AfterStopping usual = Stop(std::vector<CaseRates>(12, CaseRates{0.4, 0.65}), planned, draws / 4, 55);
    fmt::print("   {:>3} rounds planned         {:>11.1f}   {:>5} / {:<5}   {:>13}   {:>10}   {:>30}\n", planned,
               usual.rounds, Percent(usual.below), Percent(usual.above), Percent(usual.mean), Percent(usual.raw_mean),
               Percent(usual.naive));
  }
  fmt::print(
      "\n   Confidence sequence: share of runs in which it holds the lift at every one of 20 looks, lowest found\n\n");
  for (const int cases : {1, 3, 12}) {
    const int many = draws / 4;
    const WorstSuite worst = SearchWorst({cases, std::nullopt, 60, 9},
                                         [&](const auto& suite) { return 1.0 - SequenceHolds(suite, 20, 300, 56); });
    const double share = SequenceHolds(worst.cases, 20, many, 57);
    claims.AtLeast(share, 1.0 - kAlpha, many, fmt::format("confidence sequence, {} cases", cases));
    fmt::print("   {:>2} cases: {} ± {:.2f}   {}\n", cases, Percent(share), 100 * StandardError(share, many),
               SuiteText(worst.cases));
  }
  PrintAfterMinLift(draws, claims);
}

}  // namespace upskill
