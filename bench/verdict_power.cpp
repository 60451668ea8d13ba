// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "stats/power.h"
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
}

}  // namespace upskill
