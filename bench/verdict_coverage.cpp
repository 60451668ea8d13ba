// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/power.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_suites.h"

namespace upskill {
namespace {

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

}  // namespace

void PrintLiftCoverage(int draws, Claims& claims) {
  fmt::print("\n3. Coverage of the 95 % interval for these cases, in % ({} draws; ± 0.{} at 95 %)\n", draws,
             static_cast<int>(std::round(1000 * StandardError(0.95, draws))));
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
      const Scenario scenario = MakeScenario("", cases, [&](int) { return rates; });
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
                 100 * StandardError(share, draws));
    }
  }
}

}  // namespace upskill
