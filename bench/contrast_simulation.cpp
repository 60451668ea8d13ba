// SPDX-License-Identifier: Apache-2.0
// Simulates what docs/contrasts.md claims: how often a contrast between two choices claims something false, with the
// difference exactly on the border of the claim; how often a cheaper choice is wrongly called good enough; and the
// power. Arguments: draws per setting (default 20000), suites that each general search tries (240) and its seed (1);
// the other seeds are fixed. ± is one Monte Carlo standard error. Exits with 1 when a claim is missed by more than
// four.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "stats/near_best.h"
#include "stats/score_test.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_search.h"
#include "verdict_suites.h"

namespace upskill {
namespace {

constexpr std::array kCases = {12, 50};
constexpr std::array kRounds = {1, 3, 20};

// Suites whose lift is exactly −margin.
std::vector<Scenario> BorderScenarios(int cases, double margin) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const std::function<CaseRates(int)>& rates) {
    all.push_back(MakeScenario(name, cases, rates));
  };
  for (const double rate : {0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0}) {
    if (rate < margin) continue;
    add(fmt::format("all {:.2f}", rate), [=](int) { return CaseRates{rate, rate - margin}; });
  }
  // The whole loss falls on as few cases as possible; the others always pass, or pass half of the time.
  for (const double rate : {1.0, 0.5}) {
    add(fmt::format("few lose, others {:.2f}", rate), [=](int i) {
      const double lost = std::clamp(margin * cases - i, 0.0, 1.0);
      return lost > 0.0 ? CaseRates{1.0, 1.0 - lost} : CaseRates{rate, rate};
    });
  }
  // Two cases that one choice always passes and the other never, which cancel out; the others seldom lose.
  add("two swap, others 1.00", [=](int i) {
    const double lost = margin * cases / (cases - 2);
    return i == 0 ? CaseRates{0.0, 1.0} : i == 1 ? CaseRates{1.0, 0.0} : CaseRates{1.0, 1.0 - lost};
  });
  add("half swap, others 1.00", [=](int i) {
    const int swapping = cases / 4 * 2;
    if (i < swapping) return i % 2 == 0 ? CaseRates{0.0, 1.0} : CaseRates{1.0, 0.0};
    return CaseRates{1.0, 1.0 - margin * cases / (cases - swapping)};
  });
  add("half 0.02, half 0.98",
      [=](int i) { return i % 2 == 0 ? CaseRates{0.02, 0.02} : CaseRates{0.98, 0.98 - margin * cases / (cases / 2)}; });
  add("half 0.3>0.7, half 0.7>0.3",
      [=](int i) { return i % 2 == 0 ? CaseRates{0.3, 0.7 - margin} : CaseRates{0.7, 0.3 - margin}; });
  add("evenly 0.2 to 1", [=](int i) {
    const double rate = 0.2 + 0.8 * (i + 0.5) / cases;
    return CaseRates{rate, rate - margin};
  });
  return all;
}

void AddRounds(double without, double with, int rounds, Rng& rng, PairCounts& counts) {
  for (int round = 0; round < rounds; ++round) {
    const bool passed = rng.Uniform() < without;
    counts.Add(passed, rng.Uniform() < with);
  }
}

struct Shares {
  double at_alpha = 0.0;
  double at_a_seventh = 0.0;
};

Shares FalseClaims(const Scenario& scenario, int rounds, double margin, int draws) {
  Rng rng(SeedFromText(scenario.name) + static_cast<std::uint64_t>(rounds));
  Shares shares;
  std::vector<PairCounts> counts(scenario.cases.size());
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = {};
      AddRounds(scenario.cases[i].without, scenario.cases[i].with, rounds, rng, counts[i]);
    }
    const double p = ScoreTest(counts, -margin);
    shares.at_alpha += p <= kAlpha;
    shares.at_a_seventh += p <= kAlpha / 7.0;
  }
  return {shares.at_alpha / draws, shares.at_a_seventh / draws};
}

void PrintFalseClaims(int draws, Claims& claims) {
  fmt::print(
      "1. False claims of \"not worse by more than the margin\" where the loss is the margin, in %\n\n"
      "   cases  rounds  margin   alpha 5: mean  worst         alpha 0.71: worst   worst suite\n");
  for (const int cases : kCases) {
    for (const int rounds : kRounds) {
      for (const double margin : {0.0, 0.05, 0.1}) {
        Shares worst;
        double sum = 0.0;
        std::string where;
        const std::vector<Scenario> scenarios = margin > 0.0 ? BorderScenarios(cases, margin) : NullScenarios(cases);
        for (const Scenario& scenario : scenarios) {
          const Shares shares = FalseClaims(scenario, rounds, margin, draws);
          sum += shares.at_alpha;
          if (shares.at_alpha > worst.at_alpha) where = scenario.name;
          worst = {std::max(worst.at_alpha, shares.at_alpha), std::max(worst.at_a_seventh, shares.at_a_seventh)};
          const std::string what =
              fmt::format("false claim, {} cases, {} rounds, margin {}, {}", cases, rounds, margin, scenario.name);
          claims.AtMost(shares.at_alpha, kAlpha, draws, what);
          claims.AtMost(shares.at_a_seventh, kAlpha / 7.0, draws, what + ", alpha/7");
        }
        fmt::print("   {:5}  {:6}  {:6.2f}   {:>13}  {:>5} ± {:4.2f}  {:>17}   {}\n", cases, rounds, margin,
                   Percent(sum / static_cast<double>(scenarios.size())), Percent(worst.at_alpha),
                   100.0 * StandardError(kAlpha, draws), fmt::format("{:.2f}", 100.0 * worst.at_a_seventh), where);
      }
    }
  }
}

// One choice reliably breaks `broken` cases and only sometimes passes `fixed` cases that never passed before; nothing
// else varies. The lift is exactly −margin. Returns nothing if no pass rate gives that.
std::optional<Scenario> PartlyFixed(int cases, int broken, int fixed, double margin) {
  const double rate = (broken - cases * margin) / fixed;
  if (rate < 0.02 || rate > 0.98) return std::nullopt;
  return MakeScenario(fmt::format("{} broken, {} fixed {:.2f}", broken, fixed, rate), cases, [=](int i) {
    if (i < broken) return CaseRates{1.0, 0.0};
    return i < broken + fixed ? CaseRates{0.0, rate} : CaseRates{1.0, 1.0};
  });
}

// The suites of this kind with the most false claims, at alpha and at alpha/7.
std::array<Scenario, 2> SearchPartlyFixed(int cases, int rounds, double margin, int draws) {
  std::array<Scenario, 2> worst;
  std::array<double, 2> most = {-1.0, -1.0};
  const int step = std::max(1, cases / 15);
  for (int broken = 1; broken < cases; broken += step) {
    for (int fixed = 1; broken + fixed <= cases; fixed += step) {
      const std::optional<Scenario> scenario = PartlyFixed(cases, broken, fixed, margin);
      if (!scenario) continue;
      const Shares shares = FalseClaims(*scenario, rounds, margin, draws);
      const std::array found = {shares.at_alpha, shares.at_a_seventh};
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] > most[i]) worst[i] = *scenario;
        most[i] = std::max(most[i], found[i]);
      }
    }
  }
  for (Scenario& one : worst) one.name += ", confirmed";  // with other draws
  return worst;
}

void PrintWorst(int cases, int rounds, double margin, double at_alpha, double at_a_seventh, int draws,
                const std::string& suite) {
  fmt::print("   {:5}  {:6}  {:6.2f}   {:>5} ± {:4.2f}     {:>5.2f} ± {:4.2f}     {}\n", cases, rounds, margin,
             Percent(at_alpha), 100.0 * StandardError(kAlpha, draws), 100.0 * at_a_seventh,
             100.0 * StandardError(kAlpha / 7.0, draws), suite);
}

void PrintSearched(int draws, Claims& claims) {
  fmt::print(
      "\n2. The same, at the worst of all suites with cases that always break, never vary, or are partly fixed, in "
      "%\n\n"
      "   cases  rounds  margin   alpha 5          alpha 0.71       worst suite at 5\n");
  for (const int cases : {6, 12, 30, 50}) {
    for (const int rounds : {2, 3, 5, 10, 20}) {
      for (const double margin : {0.0, 0.05, 0.1, 0.2}) {
        const auto [worst, worst_at_a_seventh] = SearchPartlyFixed(cases, rounds, margin, draws / 20);
        const double at_alpha = FalseClaims(worst, rounds, margin, draws).at_alpha;
        const double at_a_seventh = FalseClaims(worst_at_a_seventh, rounds, margin, draws).at_a_seventh;
        PrintWorst(cases, rounds, margin, at_alpha, at_a_seventh, draws, worst.name);
        const std::string what = fmt::format("false claim, {} cases, {} rounds, margin {}, ", cases, rounds, margin);
        claims.AtMost(at_alpha, kAlpha, draws, what + worst.name);
        claims.AtMost(at_a_seventh, kAlpha / 7.0, draws, what + worst_at_a_seventh.name + ", alpha/7");
      }
    }
  }
}

void PrintGeneralSearch(int draws, int evaluations, std::uint64_t seed, Claims& claims) {
  fmt::print(
      "\n3. The same, at the worst of general suites: up to four kinds of cases, searched from random starts, in %\n\n"
      "   cases  rounds  margin   alpha 5          alpha 0.71       worst suite at 5\n");
  for (const int cases : {6, 12, 30}) {
    for (const int rounds : {1, 2, 3, 5, 10}) {
      for (const double margin : {0.0, 0.05, 0.2}) {
        const auto worst_by = [&](double Shares::* share) {
          return SearchWorst({cases, -margin, evaluations, seed}, [&](const std::vector<CaseRates>& suite) {
            return FalseClaims({"searched", suite}, rounds, margin, draws / 20).*share;
          });
        };
        const auto confirmed = [&](const WorstSuite& worst) {
          return FalseClaims({"confirmed", worst.cases}, rounds, margin, draws);
        };
        const WorstSuite worst = worst_by(&Shares::at_alpha);
        const double at_alpha = confirmed(worst).at_alpha;
        const double at_a_seventh = confirmed(worst_by(&Shares::at_a_seventh)).at_a_seventh;
        PrintWorst(cases, rounds, margin, at_alpha, at_a_seventh, draws, SuiteText(worst.cases));
        const std::string what = fmt::format("false claim, {} cases, {} rounds, margin {}", cases, rounds, margin);
        claims.AtMost(at_alpha, kAlpha, draws, what + ", searched");
        claims.AtMost(at_a_seventh, kAlpha / 7.0, draws, what + ", searched, alpha/7");
      }
    }
  }
}

// Passes by case and round of one choice with these pass rates.
std::vector<std::vector<char>> Answers(const std::vector<double>& rates, int rounds, Rng& rng) {
  std::vector<std::vector<char>> answers(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    for (int round = 0; round < rounds; ++round) answers[i].push_back(rng.Uniform() < rates[i] ? 1 : 0);
  }
  return answers;
}

double TotalOf(const std::vector<std::vector<char>>& answers) {
  double total = 0.0;
  for (const std::vector<char>& one : answers) total += static_cast<double>(std::count(one.begin(), one.end(), 1));
  return total;
}

std::vector<PairCounts> PairsOf(const std::vector<std::vector<char>>& b, const std::vector<std::vector<char>>& a) {
  std::vector<PairCounts> counts(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t round = 0; round < a[i].size(); ++round) counts[i].Add(b[i][round] != 0, a[i][round] != 0);
  }
  return counts;
}

// How often any of `cheaper` equal choices is called good enough: as eval and runs do (NearBest), and by the estimates
// alone.
std::pair<double, double> CalledGoodEnough(const std::vector<CaseRates>& suite, int cheaper, int rounds, double margin,
                                           int draws, const std::string& seed = "good enough") {
  std::vector<double> best;
  std::vector<double> rates;
  for (const CaseRates& one : suite) {
    best.push_back(one.without);
    rates.push_back(one.with);
  }
  Rng rng(SeedFromText(seed) + static_cast<std::uint64_t>(cheaper * 100 + rounds));
  double tested = 0.0;
  double estimated = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::vector<std::vector<char>>> choices = {Answers(best, rounds, rng)};
    for (int k = 0; k < cheaper; ++k) choices.push_back(Answers(rates, rounds, rng));
    double most = 0.0;
    for (const auto& one : choices) most = std::max(most, TotalOf(one));
    std::vector<double> p_values(choices.size(), 0.0);
    bool any = false;
    for (std::size_t k = 0; k < choices.size(); ++k) {
      for (std::size_t other = 0; other < choices.size() && p_values[k] <= kAlpha; ++other) {
        if (other != k) p_values[k] = std::max(p_values[k], ScoreTest(PairsOf(choices[other], choices[k]), -margin));
      }
      if (k > 0)
        any = any || (most - TotalOf(choices[k])) / (static_cast<double>(rates.size()) * rounds) < margin + 1e-9;
    }
    const std::vector<bool> near = NearBest(p_values, kAlpha);
    tested += std::find(near.begin() + 1, near.end(), true) != near.end();
    estimated += any;
  }
  return {tested / draws, estimated / draws};
}

void PrintGoodEnough(int draws, Claims& claims) {
  fmt::print(
      "\n4. A cheaper choice called good enough (within 5 points), in %; the best passes 95 %\n\n"
      "   cheaper choices  cases  rounds   15 points worse: tested  by estimates   5 points worse: tested  "
      "by estimates   equal: tested\n");
  for (const int cheaper : {1, 3, 7}) {
    for (const int cases : kCases) {
      for (const int rounds : kRounds) {
        const auto called = [&](double rate) {
          const Scenario equal = MakeScenario("equal", cases, [=](int) { return CaseRates{0.95, rate}; });
          return CalledGoodEnough(equal.cases, cheaper, rounds, 0.05, draws);
        };
        const auto [worse, worse_by_estimate] = called(0.80);
        const auto [border, border_by_estimate] = called(0.90);
        const auto [equal, unused] = called(0.95);
        fmt::print("   {:15}  {:5}  {:6}   {:>23}  {:>12}   {:>22}  {:>12}   {:>13}\n", cheaper, cases, rounds,
                   Percent(worse), Percent(worse_by_estimate), Percent(border), Percent(border_by_estimate),
                   Percent(equal));
        const std::string what = fmt::format("good enough, {} cheaper, {} cases, {} rounds", cheaper, cases, rounds);
        claims.AtMost(worse, kAlpha, draws, what + ", 15 points worse");
        claims.AtMost(border, kAlpha, draws, what + ", 5 points worse");
      }
    }
  }
}

void PrintGoodEnoughPartlyFixed(int draws, Claims& claims) {
  constexpr double kMargin = 0.05;
  fmt::print(
      "\n5. The same where each cheaper choice breaks some cases and partly fixes others, 5 points worse in all, in "
      "%\n\n"
      "   choices  cases  rounds  named  by estimates\n");
  struct Suite {
    int cases;
    int rounds;
    int broken;
    int fixed;
  };
  for (const Suite& suite : {Suite{30, 3, 14, 16}, {30, 10, 12, 13}, {12, 20, 5, 5}, {30, 20, 13, 13}}) {
    const Scenario scenario = PartlyFixed(suite.cases, suite.broken, suite.fixed, kMargin).value();
    for (const int choices : {2, 3, 5, 10, 12}) {
      const auto [named, by_estimates] = CalledGoodEnough(scenario.cases, choices - 1, suite.rounds, kMargin, draws);
      fmt::print("   {:7}  {:5}  {:6}  {:>5}  {:>12}\n", choices, suite.cases, suite.rounds, Percent(named),
                 Percent(by_estimates));
      claims.AtMost(named, kAlpha, draws,
                    fmt::format("good enough, {} choices, {} cases, {} rounds, {}", choices, suite.cases, suite.rounds,
                                scenario.name));
    }
  }
}

void PrintGoodEnoughSearched(int draws, int evaluations, std::uint64_t seed, Claims& claims) {
  constexpr double kMargin = 0.05;
  fmt::print(
      "\n6. The same at the worst of general suites, in %\n\n   choices  cases  rounds  named          worst suite\n");
  for (const auto& [cases, rounds] : {std::pair(12, 5), {12, 20}, {30, 3}}) {
    for (const int choices : {2, 3, 5, 12}) {
      const WorstSuite worst =
          SearchWorst({cases, -kMargin, evaluations, seed}, [&](const std::vector<CaseRates>& suite) {
            return CalledGoodEnough(suite, choices - 1, rounds, kMargin, draws / 80).first;
          });
      const double named = CalledGoodEnough(worst.cases, choices - 1, rounds, kMargin, draws, "confirmed").first;
      fmt::print("   {:7}  {:5}  {:6}  {:>5} ± {:4.2f}   {}\n", choices, cases, rounds, Percent(named),
                 100.0 * StandardError(kAlpha, draws), SuiteText(worst.cases));
      claims.AtMost(named, kAlpha, draws,
                    fmt::format("good enough, {} choices, {} cases, {} rounds, searched", choices, cases, rounds));
    }
  }
}

void PrintContrastPower(int draws) {
  fmt::print(
      "\n7. Equal choices shown to be not worse than the margin, in % (alpha 5 %, one contrast)\n\n"
      "   cases  rounds   margin 5: rate 0.6  0.9  0.98    margin 10: rate 0.6  0.9  0.98    "
      "margin 20: rate 0.6  0.9  0.98\n");
  for (const int cases : {6, 12, 25, 50}) {
    for (const int rounds : {1, 3, 5, 10, 20}) {
      std::string line = fmt::format("   {:5}  {:6}", cases, rounds);
      for (const double margin : {0.05, 0.1, 0.2}) {
        line += "            ";
        for (const double rate : {0.6, 0.9, 0.98}) {
          const Scenario equal = MakeScenario("equal", cases, [=](int) { return CaseRates{rate, rate}; });
          line += fmt::format(" {:>5}", Percent(FalseClaims(equal, rounds, margin, draws).at_alpha));
        }
      }
      fmt::print("{}\n", line);
    }
  }
}

// generate --accept never-worse: 8 held-out cases, whose rates with the existing skill are evenly spread over the scale
// as in a suite where some are easy and some are hard.
void PrintAccept(int draws, Claims& claims) {
  constexpr int kHeldOut = 8;
  constexpr std::array kSpread = {0.02, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0};
  fmt::print(
      "\n8. A new skill accepted in place of the existing one, in % ({} held-out cases, pass rates 0.02 to 1)\n\n"
      "   rounds  margin   equal  5 points worse  worse by the margin  5 points better\n",
      kHeldOut);
  for (const int rounds : {10, 20, 40}) {
    for (const double margin : {0.05, 0.1, 0.15, 0.2}) {
      const auto accepted = [&](double lift) {
        // A loss falls on the cases that leave room for it.
        double room = 0.0;
        for (const double rate : kSpread) room += lift < 0.0 ? rate : 1.0 - rate;
        const double share = std::abs(lift) * kHeldOut / room;
        const Scenario scenario = MakeScenario(fmt::format("accept {}", lift), kHeldOut, [&](int i) {
          const double rate = kSpread[static_cast<std::size_t>(i)];
          return CaseRates{rate, lift < 0.0 ? rate * (1.0 - share) : rate + (1.0 - rate) * share};
        });
        return FalseClaims(scenario, rounds, margin, draws).at_alpha;
      };
      const double border = accepted(-margin);
      claims.AtMost(border, kAlpha, draws, fmt::format("accepted, {} rounds, margin {}", rounds, margin));
      fmt::print("   {:6}  {:6.2f}   {:>5}  {:>14}  {:>19}  {:>15}\n", rounds, margin, Percent(accepted(0.0)),
                 Percent(accepted(-0.05)), Percent(border), Percent(accepted(0.05)));
    }
  }
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 20000;
  const int evaluations = argc > 2 ? std::atoi(argv[2]) : 240;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  if (draws < 100 || evaluations < 1) {
    fmt::print(stderr, "usage: contrast_simulation [DRAWS, at least 100] [SUITES PER SEARCH] [SEED]\n");
    return 2;
  }
  upskill::Claims claims;
  upskill::PrintFalseClaims(draws, claims);
  upskill::PrintSearched(draws, claims);
  upskill::PrintGeneralSearch(draws, evaluations, seed, claims);
  upskill::PrintGoodEnough(draws / 5, claims);
  upskill::PrintGoodEnoughPartlyFixed(draws / 20, claims);
  upskill::PrintGoodEnoughSearched(draws, evaluations, seed, claims);
  upskill::PrintContrastPower(draws / 10);
  upskill::PrintAccept(draws / 2, claims);
  return claims.Conclude();
}
