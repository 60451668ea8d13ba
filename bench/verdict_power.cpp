// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "stats/forecast.h"
#include "stats/power.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_run.h"

namespace upskill {
namespace {

// Power of a one-sided exact sign test after `rounds` rounds.
double FixedPower(const SimulatedSuite& suite, const SignTable& signs, int rounds, int draws) {
  Rng rng(SeedFromText("fixed") + suite.units.size());
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    for (int round = 0; round < rounds; ++round) {
      for (const double change : DrawRound(suite, rng)) totals.Add(change < 0.0, change > 0.0);
    }
    found += signs.Decides(totals);
  }
  return static_cast<double>(found) / draws;
}

// Passed answers of each case in either arm.
struct CasePasses {
  std::vector<int> without;
  std::vector<int> with;
};

// One-sided exact test by permutation within cases: given the passes of a case in both arms together, those with the
// skill are hypergeometric. The most that any test of the same answers can use, but it allows a single look.
class PermutationTest {
 public:
  explicit PermutationTest(int rounds) : rounds_(rounds), of_total_(static_cast<std::size_t>(2 * rounds + 1)) {
    for (int total = 0; total <= 2 * rounds; ++total) {
      const auto passes = static_cast<unsigned>(total);
      const auto each = static_cast<unsigned>(rounds);
      const boost::math::hypergeometric_distribution<> law(passes, each, 2 * each);
      for (int with = 0; with <= rounds; ++with) {
        const bool possible = with <= total && total - with <= rounds;
        of_total_[passes].push_back(possible ? boost::math::pdf(law, with) : 0.0);
      }
    }
  }

  double PValue(const CasePasses& passes) const {
    std::vector<double> sums = {1.0};  // the probability of each number of passes with the skill
    std::size_t seen = 0;
    for (std::size_t i = 0; i < passes.with.size(); ++i) {
      seen += static_cast<std::size_t>(passes.with[i]);
      const std::vector<double>& one = of_total_[static_cast<std::size_t>(passes.with[i] + passes.without[i])];
      std::vector<double> next(sums.size() + static_cast<std::size_t>(rounds_), 0.0);
      for (std::size_t sum = 0; sum < sums.size(); ++sum) {
        for (std::size_t with = 0; with < one.size(); ++with) next[sum + with] += sums[sum] * one[with];
      }
      sums = std::move(next);
    }
    double tail = 0.0;
    for (std::size_t sum = seen; sum < sums.size(); ++sum) tail += sums[sum];
    return tail;
  }

 private:
  int rounds_;
  std::vector<std::vector<double>> of_total_;  // by passes in both arms; by passes with the skill
};

struct PowerShares {
  double permutation = 0.0;
  double to_the_end = 0.0;       // `helps` by the last round
  double stopping = 0.0;         // the same, with --stop-when-decided
  double stopping_rounds = 0.0;  // mean
};

// Cases that pass in 5 to 65 % of the rounds without the skill, and `lift` more often with it.
PowerShares PowerAgainstPermutation(int cases, int rounds, double lift, int draws) {
  std::vector<CaseRates> rates;
  for (int i = 0; i < cases; ++i) {
    const double without = 0.05 + 0.6 * i / (cases - 1.0);
    rates.push_back({without, without + lift});
  }
  const SpendingSchedule schedule(rounds);
  const PermutationTest permutation(rounds);
  Rng rng(SeedFromText("permutation") + static_cast<std::uint64_t>(100 * cases + rounds));
  PowerShares shares;
  for (int draw = 0; draw < draws; ++draw) {
    CasePasses passes{std::vector<int>(rates.size()), std::vector<int>(rates.size())};
    SignFlipSequence sequence(kAlpha, schedule);
    SequenceState state;
    int stopped = 0;
    for (int round = 1; round <= rounds; ++round) {
      std::vector<double> changes;
      for (std::size_t i = 0; i < rates.size(); ++i) {
        const int without = rng.Uniform() < rates[i].without ? 1 : 0;
        const int with = rng.Uniform() < rates[i].with ? 1 : 0;
        passes.without[i] += without;
        passes.with[i] += with;
        changes.push_back(with - without);
      }
      sequence.AddRound(changes);
      state = {round, sequence.sum(), static_cast<double>(sequence.reach())};
      const bool decided = sequence.helps_round() > 0 || sequence.hurts_round() > 0;
      if (stopped == 0 && (decided || IsFutile(state, schedule, rounds, kAlpha, kAlpha))) {
        stopped = round;
        shares.stopping += sequence.helps_round() > 0 ? 1.0 : 0.0;
      }
    }
    if (stopped == 0) stopped = rounds;
    shares.stopping_rounds += stopped;
    shares.to_the_end += sequence.helps_round() > 0 ? 1.0 : 0.0;
    shares.permutation += permutation.PValue(passes) <= kAlpha ? 1.0 : 0.0;
  }
  return {shares.permutation / draws, shares.to_the_end / draws, shares.stopping / draws,
          shares.stopping_rounds / draws};
}

void PrintAgainstPermutation(int draws) {
  fmt::print(
      "\n    The same against the exact test by permutation within cases, which allows a single look after the last "
      "round\n    (both at 5 %): `helps` in %, run to the end and with --stop-when-decided; {} draws\n\n"
      "    cases  rounds  lift   permutation   to the end   stopping   mean rounds\n",
      draws);
  for (const int cases : {8, 12, 30}) {
    for (const int rounds : {3, 5, 10}) {
      for (const double lift : {0.0, 0.1, 0.2, 0.3}) {
        const PowerShares shares = PowerAgainstPermutation(cases, rounds, lift, draws);
        fmt::print("    {:>5}  {:>6}  {:>4}   {:>11}   {:>10}   {:>8}   {:>11.2f}\n", cases, rounds,
                   fmt::format("{:+.0f}", 100.0 * lift), Percent(shares.permutation), Percent(shares.to_the_end),
                   Percent(shares.stopping), shares.stopping_rounds);
      }
    }
  }
}

}  // namespace

void PrintPower(int draws, Claims& claims) {
  fmt::print(
      "\n10. Power: this rule, stopped when decided, at most 20 rounds, against an exact sign test after a number of "
      "rounds fixed\n");
  fmt::print(
      "   in advance (one-sided 5 %): with as many rounds as this rule takes on average (rounded up), and with the "
      "fewest\n"
      "   that give at least the same power ({} draws)\n\n",
      draws);
  fmt::print(
      "   cases  without > with   power           mean rounds   sign test with as many: power   same power needs: "
      "rounds\n");
  const SignTable signs(50 * 20);
  for (const int cases : {5, 12, 30}) {
    for (const CaseRates& rates :
         std::vector<CaseRates>{{.4, .5}, {.4, .65}, {.4, .9}, {.1, .3}, {.8, .95}, {.02, .98}}) {
      const SimulatedSuite suite{std::vector<CaseRates>(static_cast<std::size_t>(cases), rates), {}};
      const RuleOutcome rule = SimulateRule(suite.units, {20, kAlpha}, draws, 1);
      const double as_many = FixedPower(suite, signs, static_cast<int>(std::ceil(rule.mean_rounds)), draws);
      if (cases >= 12 && rates.with - rates.without > 0.19) {
        claims.AtLeast(rule.helps, as_many, draws,
                       fmt::format("power against a fixed test as long, {} cases, {:.2f}>{:.2f}", cases, rates.without,
                                   rates.with));
      }
      int rounds = 1;
      while (rounds < 20 && FixedPower(suite, signs, rounds, draws) < rule.helps) ++rounds;
      fmt::print("   {:>5}  {:>7.2f} > {:.2f}   {:>5} ± {:<5.2f}  {:>12.1f}   {:>29}   {:>24}\n", cases, rates.without,
                 rates.with, Percent(rule.helps), 100 * rule.standard_error, rule.mean_rounds, Percent(as_many),
                 rounds);
    }
  }
  PrintAgainstPermutation(draws);
}

}  // namespace upskill
