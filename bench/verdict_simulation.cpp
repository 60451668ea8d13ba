// SPDX-License-Identifier: Apache-2.0
// Simulates what docs/verdicts.md claims: false verdicts when a run is looked at after every round, the coverage of the
// intervals, and power. One argument: draws per scenario (default 20000, about two minutes on one processor). Seeds are
// fixed; ± is one Monte Carlo standard error. Exits with 1 when a claim is missed by more than four of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stats/e_process.h"
#include "stats/exact_tests.h"
#include "stats/interval.h"
#include "stats/multiplicity.h"
#include "stats/power.h"
#include "util/rng.h"

namespace upskill {
namespace {

constexpr double kAlpha = 0.05;
constexpr int kLooks = 50;
const std::vector<double> kRates = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98};

struct Scenario {
  std::string name;
  std::vector<CaseRates> cases;

  double lift() const {
    double sum = 0.0;
    for (const CaseRates& one : cases) sum += one.with - one.without;
    return sum / static_cast<double>(cases.size());
  }
  // Expected number of changes of a case's answers, by which intervals are normal or not.
  double variance(int rounds) const {
    double sum = 0.0;
    for (const CaseRates& one : cases) sum += one.with * (1.0 - one.with) + one.without * (1.0 - one.without);
    return sum * rounds;
  }
};

double Half(int i, double even, double odd) { return i % 2 == 0 ? even : odd; }

Scenario Make(const std::string& name, int cases, const std::function<CaseRates(int)>& rates) {
  Scenario scenario{name, {}};
  for (int i = 0; i < cases; ++i) scenario.cases.push_back(rates(i));
  return scenario;
}

// Suites without a lift: equal cases; cases that differ; lifts that cancel out (with an odd number of cases, one gains
// nothing).
std::vector<Scenario> NullScenarios(int cases) {
  std::vector<Scenario> scenarios;
  for (const double rate : kRates) {
    scenarios.push_back(Make(fmt::format("all {:.2f}", rate), cases, [=](int) { return CaseRates{rate, rate}; }));
  }
  scenarios.push_back(
      Make("half 0.02, half 0.98", cases, [](int i) { return CaseRates{Half(i, .02, .98), Half(i, .02, .98)}; }));
  scenarios.push_back(
      Make("half 0.1, half 0.9", cases, [](int i) { return CaseRates{Half(i, .1, .9), Half(i, .1, .9)}; }));
  scenarios.push_back(Make("0.02 to 0.98 evenly", cases, [=](int i) {
    const double rate = 0.02 + 0.96 * (i + 0.5) / cases;
    return CaseRates{rate, rate};
  }));
  scenarios.push_back(Make("half 0.7>0.3, half 0.3>0.7", cases, [=](int i) {
    return i + 1 == cases && i % 2 == 0 ? CaseRates{.5, .5} : CaseRates{Half(i, .7, .3), Half(i, .3, .7)};
  }));
  scenarios.push_back(Make("half 0.98>0.02, half back", cases, [=](int i) {
    return i + 1 == cases && i % 2 == 0 ? CaseRates{.5, .5} : CaseRates{Half(i, .98, .02), Half(i, .02, .98)};
  }));
  return scenarios;
}

std::vector<Scenario> AllScenarios(int cases) {
  std::vector<Scenario> scenarios = NullScenarios(cases);
  for (const double without : kRates) {
    for (const double with : kRates) {
      if (with <= without) continue;
      scenarios.push_back(
          Make(fmt::format("all {:.2f}>{:.2f}", without, with), cases, [=](int) { return CaseRates{without, with}; }));
    }
  }
  scenarios.push_back(
      Make("half 0.02, half 0.98 > 0.98", cases, [](int i) { return CaseRates{Half(i, .02, .98), .98}; }));
  scenarios.push_back(Make("half 0.1, half 0.9 > 0.9", cases, [](int i) { return CaseRates{Half(i, .1, .9), .9}; }));
  scenarios.push_back(
      Make("half 0.3>0.7, half 0.7>0.9", cases, [](int i) { return CaseRates{Half(i, .3, .7), Half(i, .7, .9)}; }));
  scenarios.push_back(Make("one 0.3>0.98, others 0.3", cases, [](int i) { return CaseRates{.3, i == 0 ? .98 : .3}; }));
  return scenarios;
}

void AddRound(const Scenario& scenario, Rng& rng, PairCounts& totals) {
  for (const CaseRates& one : scenario.cases) {
    const bool without = rng.Uniform() < one.without;
    totals.Add(without, rng.Uniform() < one.with);
  }
}

double Error(double share, int draws) { return std::sqrt(share * (1.0 - share) / draws); }

// What was claimed and isn't so.
class Claims {
 public:
  void AtMost(double share, double bound, int draws, const std::string& what) {
    if (share > bound + 4.0 * Error(bound, draws)) Miss(share, "more", bound, what);
  }
  void AtLeast(double share, double bound, int draws, const std::string& what) {
    if (share < bound - 4.0 * Error(bound, draws)) Miss(share, "less", bound, what);
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

std::string Percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }

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
               Percent(sum.helps / n), Percent(worst.helps), 100 * Error(worst.helps, draws), Percent(sum.hurts / n),
               Percent(worst.hurts), 100 * Error(worst.hurts, draws), Percent(sum.sign_test / n),
               Percent(worst.sign_test), where);
  }
}

// The largest divisor k (up to `most`) for which the evidence ever reached k/alpha; 0: not even 1/alpha.
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
    const Scenario none = Make("none", cases, [](int) { return CaseRates{.5, .5}; });
    const Scenario lift = Make("lift", cases, [](int) { return CaseRates{.5, .9}; });
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
      fmt::print("  {:>{}} ± {:.2f}", Percent(share), widths[i], 100 * Error(share, runs));
    }
    fmt::print("\n");
  }
}

struct Coverage {
  double share = 0.0;
  double width = 0.0;
};

Coverage CoverageOfLift(const Scenario& scenario, int rounds, int draws) {
  Rng rng(SeedFromText(scenario.name) + 1000U * static_cast<unsigned>(rounds) + scenario.cases.size());
  const double lift = scenario.lift();
  Coverage coverage;
  std::vector<PairCounts> cases(scenario.cases.size());
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      cases[i] = {};
      for (int round = 0; round < rounds; ++round) {
        const bool without = rng.Uniform() < scenario.cases[i].without;
        cases[i].Add(without, rng.Uniform() < scenario.cases[i].with);
      }
    }
    const Interval interval = LiftInterval(cases).value_or(Interval{});
    coverage.share += interval.low <= lift + 1e-12 && lift - 1e-12 <= interval.high;
    coverage.width += interval.high - interval.low;
  }
  return {coverage.share / draws, coverage.width / draws};
}

struct CoverageRow {
  int suites = 0;
  int below = 0;  // of 93.5 %
  int above = 0;  // 98 %
  double lowest = 1.0;
  double highest = 0.0;
  double sum = 0.0;

  void Add(double share) {
    ++suites;
    below += share < 0.935;
    above += share > 0.98;
    lowest = std::min(lowest, share);
    highest = std::max(highest, share);
    sum += share;
  }
  std::string text() const {
    return fmt::format("{:>6}  {:>6}  {:>4}  {:>7}  {:>10}  {:>10}", suites, Percent(lowest), Percent(sum / suites),
                       Percent(highest), below, above);
  }
};

void PrintLiftCoverage(int draws, Claims& claims) {
  fmt::print("\n3. Coverage of the 95 % interval for these cases, in % ({} draws; ± 0.{} at 95 %)\n", draws,
             static_cast<int>(std::round(1000 * Error(0.95, draws))));
  fmt::print("   By expected changes: the sum over cases and rounds of p(1-p) of both arms\n\n");
  std::map<std::pair<int, bool>, CoverageRow> by_changes;
  std::map<std::pair<int, int>, CoverageRow> by_size;
  std::string below;
  const std::vector<int> bounds = {0, 1, 2, 4, 8, 16};
  for (const int cases : {3, 4, 6, 8, 12, 25, 50}) {
    for (const int rounds : {1, 2, 3, 5, 10, 20}) {
      for (const Scenario& scenario : AllScenarios(cases)) {
        const Coverage coverage = CoverageOfLift(scenario, rounds, draws);
        int bucket = 0;
        for (const int bound : bounds) bucket = scenario.variance(rounds) >= bound ? bound : bucket;
        by_changes[{bucket, rounds > 1}].Add(coverage.share);
        by_size[{cases, rounds}].Add(coverage.share);
        const std::string what = fmt::format("coverage, {} cases, {} rounds, {}", cases, rounds, scenario.name);
        claims.AtLeast(coverage.share, 0.935, draws, what);
        if (rounds > 1 && scenario.variance(rounds) >= 8) claims.AtMost(coverage.share, 0.98, draws, what);
        if (coverage.share >= 0.935) continue;
        below += fmt::format("   below: {} cases, {} rounds, {}: {}\n", cases, rounds, scenario.name,
                             Percent(coverage.share));
      }
    }
  }
  fmt::print("   changes  rounds   suites  lowest  mean  highest  below 93.5  above 98\n");
  for (const auto& [key, row] : by_changes) {
    const std::string from =
        key.first == bounds.back() ? fmt::format("{}+", key.first) : fmt::format("{}..", key.first);
    fmt::print("   {:>7}  {:>6}   {}\n", from, key.second ? "2-20" : "1", row.text());
  }
  fmt::print("{}\n   cases  rounds   suites  lowest  mean  highest  below 93.5  above 98\n", below);
  for (const auto& [key, row] : by_size) fmt::print("   {:>5}  {:>6}   {}\n", key.first, key.second, row.text());
}

// A kind of cases: draws one case. Its mean lift is what the interval for new cases should contain.
struct Population {
  std::string name;
  double lift = 0.0;
  std::function<CaseRates(Rng&)> draw;
};

std::vector<Population> Populations() {
  std::vector<Population> all;
  const std::vector<CaseRates> equal = {{.02, .02}, {.02, .1}, {.1, .1}, {.5, .5}, {.3, .7}, {.5, .98}, {.02, .98}};
  for (const CaseRates& rates : equal) {
    all.push_back({fmt::format("all {:.2f}>{:.2f}", rates.without, rates.with), rates.with - rates.without,
                   [=](Rng&) { return rates; }});
  }
  for (const double share : {0.05, 0.1, 0.2, 0.3, 0.5}) {
    all.push_back({fmt::format("0.02; {:.0f} % of them to 0.98", 100 * share), 0.96 * share,
                   [=](Rng& rng) { return CaseRates{.02, rng.Uniform() < share ? .98 : .02}; }});
  }
  all.push_back({"p uniform, no lift", 0.0, [](Rng& rng) {
                   const double p = rng.Uniform();
                   return CaseRates{p, p};
                 }});
  all.push_back({"p uniform to its root", 1.0 / 6.0, [](Rng& rng) {
                   const double p = rng.Uniform();
                   return CaseRates{p, std::sqrt(p)};
                 }});
  all.push_back({"both uniform, independent", 0.0, [](Rng& rng) {
                   const double p = rng.Uniform();
                   return CaseRates{p, rng.Uniform()};
                 }});
  return all;
}

double CoverageOfNewCases(const Population& population, int cases, int rounds, int draws) {
  Rng rng(SeedFromText(population.name) + 1000U * static_cast<unsigned>(rounds) + static_cast<unsigned>(cases));
  int covered = 0;
  std::vector<double> lifts(static_cast<std::size_t>(cases));
  for (int draw = 0; draw < draws; ++draw) {
    for (double& lift : lifts) {
      const CaseRates rates = population.draw(rng);
      PairCounts counts;
      for (int round = 0; round < rounds; ++round) {
        const bool without = rng.Uniform() < rates.without;
        counts.Add(without, rng.Uniform() < rates.with);
      }
      lift = counts.lift();
    }
    covered += NewCasesInterval(lifts, rounds).value_or(Interval{}).Contains(population.lift);
  }
  return static_cast<double>(covered) / draws;
}

void PrintNewCasesCoverage(int draws, Claims& claims) {
  fmt::print("\n4. Coverage of the 95 % interval for new cases, in %, over {} kinds of cases ({} draws)\n\n",
             Populations().size(), draws);
  fmt::print("   cases  rounds   lowest  mean  lowest for\n");
  for (const int cases : {6, 8, 12, 25, 50}) {
    for (const int rounds : {1, 3, 20}) {
      CoverageRow row;
      std::string where;
      for (const Population& population : Populations()) {
        const double share = CoverageOfNewCases(population, cases, rounds, draws);
        if (share < row.lowest) where = population.name;
        claims.AtLeast(share, 0.92, draws,
                       fmt::format("coverage for new cases, {} cases, {} rounds, {}", cases, rounds, population.name));
        row.Add(share);
      }
      fmt::print("   {:>5}  {:>6}   {:>6}  {:>4}  {}\n", cases, rounds, Percent(row.lowest),
                 Percent(row.sum / row.suites), where);
    }
  }
}

void PrintSequenceCoverage(int draws, Claims& claims) {
  fmt::print(
      "\n5. Share of runs in which the 95 % confidence sequence holds the lift at every one of 20 looks, in % ({} "
      "draws)\n\n",
      draws);
  for (const int cases : {4, 12}) {
    for (const CaseRates& rates : std::vector<CaseRates>{{.5, .5}, {.1, .1}, {.4, .65}, {.1, .9}}) {
      const Scenario scenario = Make("", cases, [&](int) { return rates; });
      Rng rng(SeedFromText("sequence") + static_cast<unsigned>(cases));
      int held = 0;
      for (int draw = 0; draw < draws; ++draw) {
        LiftSequence sequence(kAlpha);
        PairCounts totals;
        for (int round = 0; round < 20; ++round) {
          AddRound(scenario, rng, totals);
          sequence.Add(totals);
        }
        held += sequence.range().Contains(scenario.lift());  // it only shrinks
      }
      const double share = static_cast<double>(held) / draws;
      claims.AtLeast(share, 1.0 - kAlpha, draws,
                     fmt::format("confidence sequence, {} cases, {:.2f}>{:.2f}", cases, rates.without, rates.with));
      fmt::print("   {:>2} cases, {:.2f}>{:.2f}: {} ± {:.2f}\n", cases, rates.without, rates.with, Percent(share),
                 100 * Error(share, draws));
    }
  }
}

// Power of a one-sided exact sign test after `rounds` rounds.
double FixedPower(const Scenario& scenario, const SignTable& signs, int rounds, int draws) {
  Rng rng(SeedFromText("fixed") + scenario.cases.size());
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    for (int round = 0; round < rounds; ++round) AddRound(scenario, rng, totals);
    found += signs.Decides(totals);
  }
  return static_cast<double>(found) / draws;
}

void PrintPower(int draws, Claims& claims) {
  fmt::print(
      "\n6. Power: this rule, stopped when decided, at most 20 rounds, against an exact sign test after a number of "
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
      const Scenario scenario = Make("", cases, [&](int) { return rates; });
      const RuleOutcome rule = SimulateRule(scenario.cases, {20, kAlpha}, draws, 1);
      const double as_many = FixedPower(scenario, signs, static_cast<int>(std::ceil(rule.mean_rounds)), draws);
      if (cases >= 12 && rates.with - rates.without > 0.19) {
        claims.AtLeast(rule.helps, as_many, draws,
                       fmt::format("power against a fixed test as long, {} cases, {:.2f}>{:.2f}", cases, rates.without,
                                   rates.with));
      }
      int rounds = 1;
      while (rounds < 20 && FixedPower(scenario, signs, rounds, draws) < rule.helps) ++rounds;
      fmt::print("   {:>5}  {:>7.2f} > {:.2f}   {:>5} ± {:<5.2f}  {:>12.1f}   {:>29}   {:>24}\n", cases, rates.without,
                 rates.with, Percent(rule.helps), 100 * rule.standard_error, rule.mean_rounds, Percent(as_many),
                 rounds);
    }
  }
}

}  // namespace
}  // namespace upskill

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
