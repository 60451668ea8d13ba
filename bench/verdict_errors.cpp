// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "stats/e_process.h"
#include "stats/multiplicity.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_suites.h"

namespace upskill {
namespace {

struct FalseRates {
  double helps = 0.0;
  double hurts = 0.0;
  double sign_test = 0.0;  // false "helps" of a sign test looked at as often
};

FalseRates SimulateNull(const Scenario& scenario, DecisionTable& table, const SignTable& signs, int draws) {
  Rng rng(SeedFromText(scenario.name) + scenario.cases.size());
  FalseRates rates;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    bool helps = false;
    bool hurts = false;
    bool sign = false;
    for (int round = 0; round < kLooks && !(helps && hurts && sign); ++round) {
      AddRound(scenario, rng, totals);
      helps = helps || table.Decides(static_cast<int>(totals.wins), static_cast<int>(totals.losses));
      hurts = hurts || table.Decides(static_cast<int>(totals.losses), static_cast<int>(totals.wins));
      sign = sign || signs.Decides(totals);
    }
    rates.helps += helps;
    rates.hurts += hurts;
    rates.sign_test += sign;
  }
  return {rates.helps / draws, rates.hurts / draws, rates.sign_test / draws};
}
// The largest divisor k for which the evidence ever reached k/alpha; 0: not even 1/alpha.
int LevelReached(const Scenario& scenario, Rng& rng, std::vector<DecisionTable>& tables, int rounds) {
  PairCounts totals;
  std::size_t level = 0;
  for (int round = 0; round < rounds && level < tables.size(); ++round) {
    AddRound(scenario, rng, totals);
    while (level < tables.size() &&
           tables[level].Decides(static_cast<int>(totals.wins), static_cast<int>(totals.losses)))
      ++level;
  }
  return static_cast<int>(level);
}

}  // namespace

void PrintFalseVerdicts(int draws, Claims& claims) {
  fmt::print("1. False verdicts without a lift, in %, looked at after each of {} rounds (alpha {} %)\n", kLooks,
             100 * kAlpha);
  fmt::print("   worst and mean over {} suites per size, {} draws each; sign test: one-sided, 5 % at every look\n\n",
             NullScenarios(4).size(), draws);
  fmt::print(
      "   cases  helps: mean  worst          hurts: mean  worst          sign test: mean  worst   worst suite "
      "(helps)\n");
  DecisionTable table(kAlpha);
  const SignTable signs(50 * kLooks);
  for (const int cases : {3, 4, 6, 12, 26, 50}) {
    FalseRates sum;
    FalseRates worst;
    std::string where;
    const std::vector<Scenario> scenarios = NullScenarios(cases);
    for (const Scenario& scenario : scenarios) {
      const FalseRates rates = SimulateNull(scenario, table, signs, draws);
      sum = {sum.helps + rates.helps, sum.hurts + rates.hurts, sum.sign_test + rates.sign_test};
      if (rates.helps > worst.helps) where = scenario.name;
      claims.AtMost(rates.helps, kAlpha, draws, fmt::format("false helps, {} cases, {}", cases, scenario.name));
      claims.AtMost(rates.hurts, kAlpha, draws, fmt::format("false hurts, {} cases, {}", cases, scenario.name));
      worst = {std::max(worst.helps, rates.helps), std::max(worst.hurts, rates.hurts),
               std::max(worst.sign_test, rates.sign_test)};
    }
    const auto n = static_cast<double>(scenarios.size());
    fmt::print("   {:>5}  {:>11}  {:>4} ± {:<7.2f} {:>12}  {:>4} ± {:<7.2f} {:>15}  {:>5}   {}\n", cases,
               Percent(sum.helps / n), Percent(worst.helps), 100 * StandardError(worst.helps, draws),
               Percent(sum.hurts / n), Percent(worst.hurts), 100 * StandardError(worst.hurts, draws),
               Percent(sum.sign_test / n), Percent(worst.sign_test), where);
  }
}

void PrintMultiplicity(int draws, Claims& claims) {
  constexpr int kStudents = 10;
  constexpr int kCandidates = 5;
  fmt::print(
      "\n2. Chance of any false \"helps\", in %: {} students by Holm's rule ({} looks); {} candidates with "
      "alpha/(k(k+1))\n\n",
      kStudents, kLooks, kCandidates);
  fmt::print("   cases  all students at 0.5  half of them helped by 40 points  candidates at 0.5\n");
  std::vector<DecisionTable> tables;
  std::vector<DecisionTable> candidate_tables;
  for (int k = 1; k <= kStudents; ++k) tables.emplace_back(kAlpha / k);
  for (int k = 1; k <= kCandidates; ++k) candidate_tables.emplace_back(CandidateAlpha(k, kAlpha));
  for (const int cases : {4, 12, 50}) {
    const Scenario none = MakeScenario("none", cases, [](int) { return CaseRates{.5, .5}; });
    const Scenario lift = MakeScenario("lift", cases, [](int) { return CaseRates{.5, .9}; });
    Rng rng(static_cast<std::uint64_t>(cases));
    std::array<double, 3> wrong{};
    const int runs = draws / 2;
    for (int draw = 0; draw < runs; ++draw) {
      for (const bool half : {false, true}) {
        std::vector<double> evidence;
        for (int i = 0; i < kStudents; ++i) {
          const int level = LevelReached(half && i % 2 == 1 ? lift : none, rng, tables, kLooks);
          evidence.push_back(level == 0 ? 0.0 : std::log(level / kAlpha) + 1e-9);
        }
        const std::vector<bool> rejects = HolmRejects(evidence, kAlpha);
        bool any = false;
        for (std::size_t i = 0; i < rejects.size(); ++i) any = any || (rejects[i] && !(half && i % 2 == 1));
        wrong[half ? 1 : 0] += any;
      }
      bool any = false;
      for (DecisionTable& table : candidate_tables) {
        std::vector<DecisionTable> one = {std::move(table)};
        any = LevelReached(none, rng, one, kLooks) > 0 || any;
        table = std::move(one[0]);
      }
      wrong[2] += any;
    }
    fmt::print("   {:>5}", cases);
    const std::array<int, 3> widths = {14, 27, 14};
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      const double share = wrong[i] / runs;
      claims.AtMost(share, kAlpha, runs,
                    fmt::format("any false helps among several, {} cases, column {}", cases, i + 1));
      fmt::print("  {:>{}} ± {:.2f}", Percent(share), widths[i], 100 * StandardError(share, runs));
    }
    fmt::print("\n");
  }
}

}  // namespace upskill
