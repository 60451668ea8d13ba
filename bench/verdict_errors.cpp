// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stats/e_process.h"
#include "verdict_claims.h"
#include "verdict_exact.h"
#include "verdict_run.h"
#include "verdict_search.h"

namespace upskill {
namespace {

constexpr int kDrawsOfSearch = 500;

struct Size {
  int cases = 0;
  int planned = 0;  // rounds
  int raised = 0;   // the rounds run in the end
};

// Sizes at which probabilities are computed, not simulated.
constexpr std::array<Size, 4> kExactSizes = {{{1, 8, 12}, {2, 4, 6}, {3, 3, 5}, {4, 3, 4}}};
constexpr std::array<Size, 5> kSimulatedSizes = {{{1, 20, 80}, {2, 20, 80}, {3, 20, 60}, {12, 20, 40}, {100, 5, 10}}};

void PrintExact(Claims& claims) {
  fmt::print(
      "1. Probability of a false `helps`, in %, computed exactly: a look after each round, the number of rounds raised "
      "later\n   (that of `hurts` is the same, with the arms exchanged). Worst: searched over all suites without a "
      "lift\n\n");
  fmt::print("   cases  planned > run   all at 0.5  all at 0.1   worst   worst suite\n");
  for (const Size& size : kExactSizes) {
    const SpendingSchedule schedule(size.planned);
    const auto helps = [&](const std::vector<CaseRates>& cases) {
      return ExactHelps(cases, kAlpha, schedule, size.raised);
    };
    const auto equal = [&](double rate) {
      return helps(std::vector<CaseRates>(static_cast<std::size_t>(size.cases), {rate, rate}));
    };
    const WorstSuite worst = SearchWorst({size.cases, 0.0, 200, 1}, helps);
    claims.Bound(worst.value, kAlpha, fmt::format("false helps, exactly, {} cases", size.cases));
    fmt::print("   {:>5}  {:>7} > {:<3}   {:>10}  {:>10}   {:>5}   {}\n", size.cases, size.planned, size.raised,
               Percent(equal(0.5)), Percent(equal(0.1)), Percent(worst.value), SuiteText(worst.cases));
  }
}

struct FalseRates {
  double helps = 0.0;
  double hurts = 0.0;
  double planned = 0.0;    // `helps` within the planned rounds
  double sign_test = 0.0;  // false "helps" of a sign test looked at as often
};

FalseRates Simulate(const std::vector<CaseRates>& cases, const Size& size, int draws, std::uint64_t seed,
                    const SignTable* signs) {
  Rng rng(seed);
  const SpendingSchedule schedule(size.planned);
  const SimulatedSuite suite{cases, {}};
  FalseRates rates;
  for (int draw = 0; draw < draws; ++draw) {
    SignFlipSequence sequence(kAlpha, schedule);
    PairCounts totals;
    bool sign = false;
    for (int round = 0; round < size.raised; ++round) {
      const std::vector<double> changes = DrawRound(suite, rng);
      sequence.AddRound(changes);
      if (signs == nullptr) continue;
      for (const double change : changes) totals.Add(change < 0.0, change > 0.0);
      sign = sign || signs->Decides(totals);
    }
    rates.helps += sequence.helps_round() > 0 ? 1.0 : 0.0;
    rates.hurts += sequence.hurts_round() > 0 ? 1.0 : 0.0;
    rates.planned += sequence.helps_round() > 0 && sequence.helps_round() <= size.planned ? 1.0 : 0.0;
    rates.sign_test += sign ? 1.0 : 0.0;
  }
  return {rates.helps / draws, rates.hurts / draws, rates.planned / draws, rates.sign_test / draws};
}

void PrintSimulated(int draws, Claims& claims) {
  fmt::print(
      "\n2. The same by simulation: searched with {} draws per suite, then measured again with {} new draws; ± is one "
      "standard "
      "error\n   sign test: one-sided, 5 % at every look\n\n",
      kDrawsOfSearch, draws);
  fmt::print(
      "   cases  planned > run   helps: planned   run           hurts         sign test   worst suite (helps)\n");
  const SignTable signs(1000);
  for (const Size& size : kSimulatedSizes) {
    const WorstSuite worst = SearchWorst({size.cases, 0.0, 80, 2}, [&](const std::vector<CaseRates>& cases) {
      return Simulate(cases, size, kDrawsOfSearch, 11, nullptr).helps;
    });
    const FalseRates rates = Simulate(worst.cases, size, draws, 12, &signs);
    claims.AtMost(rates.helps, kAlpha, draws, fmt::format("false helps, {} cases", size.cases));
    claims.AtMost(rates.hurts, kAlpha, draws, fmt::format("false hurts, {} cases", size.cases));
    fmt::print("   {:>5}  {:>7} > {:<3}   {:>14}  {:>4} ± {:<5.2f}  {:>4} ± {:<5.2f}  {:>9}   {}\n", size.cases,
               size.planned, size.raised, Percent(rates.planned), Percent(rates.helps),
               100 * StandardError(rates.helps, draws), Percent(rates.hurts), 100 * StandardError(rates.hurts, draws),
               Percent(rates.sign_test), SuiteText(worst.cases));
  }
}

// The share of runs that show a lift above `min_lift` by the e-process, at any of the looks.
double ShareAboveMinLift(const std::vector<CaseRates>& cases, double min_lift, int rounds, int draws,
                         std::uint64_t seed) {
  Rng rng(seed);
  const SimulatedSuite suite{cases, {}};
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    for (int round = 0; round < rounds; ++round) {
      for (const double change : DrawRound(suite, rng)) totals.Add(change < 0.0, change > 0.0);
      if (totals.lift() <= min_lift || LogEvidence(totals, min_lift) < std::log(1.0 / kAlpha)) continue;
      ++found;
      break;
    }
  }
  return static_cast<double>(found) / draws;
}

// The share of runs whose confidence sequence lies within ±margin after any look.
double ShareNoEffect(const std::vector<CaseRates>& cases, double margin, int rounds, int draws, std::uint64_t seed) {
  Rng rng(seed);
  const SimulatedSuite suite{cases, {}};
  const double threshold = std::log(2.0 / kAlpha);
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    bool above = false;
    bool below = false;
    for (int round = 0; round < rounds && !(above && below); ++round) {
      for (const double change : DrawRound(suite, rng)) totals.Add(change < 0.0, change > 0.0);
      if (totals.lift() > margin) continue;
      below = below || LogEvidence(totals.Mirrored(), -margin) >= threshold;
      if (below) above = above || LogEvidence(totals, -margin) >= threshold;
    }
    found += above && below ? 1 : 0;
  }
  return static_cast<double>(found) / draws;
}

void PrintMargins(int draws, Claims& claims) {
  fmt::print(
      "\n3. False `no effect` of suites whose lift is the margin of 20 points, and false `helps` beyond a least lift "
      "of "
      "20 points\n   of suites with that lift, in %, at any of 20 looks; searched, then measured with new draws\n\n");
  fmt::print("   cases   word                     false        worst suite\n");
  constexpr double kMargin = 0.2;
  constexpr int kRounds = 20;
  const std::vector<std::pair<std::string, decltype(&ShareNoEffect)>> words = {
      {"no effect", &ShareNoEffect}, {"helps beyond 20 points", &ShareAboveMinLift}};
  for (const int cases : {3, 12, 100}) {
    for (const auto& [word, share] : words) {
      const int few = cases > 50 ? 200 : kDrawsOfSearch;
      const int many = cases > 50 ? draws / 10 : draws / 4;
      const WorstSuite worst = SearchWorst(
          {cases, kMargin, 60, 3},
          [&, share = share](const std::vector<CaseRates>& suite) { return share(suite, kMargin, kRounds, few, 21); });
      const double rate = share(worst.cases, kMargin, kRounds, many, 22);
      claims.AtMost(rate, kAlpha, many, fmt::format("false {}, {} cases", word, cases));
      fmt::print("   {:>5}   {:<22}  {:>4} ± {:<5.2f}  {}\n", cases, word, Percent(rate),
                 100 * StandardError(rate, many), SuiteText(worst.cases));
    }
  }
}

}  // namespace

void PrintFalseVerdicts(int draws, Claims& claims) {
  PrintExact(claims);
  PrintSimulated(draws, claims);
  PrintMargins(draws, claims);
}

}  // namespace upskill
