// SPDX-License-Identifier: Apache-2.0
// How often a table of skills and models says something false, and what the correction for it costs (docs/verdicts.md):
// tables in which some skills help and the others change nothing, all compared with the same answers without a skill.
// "each by itself" is the verdict of each run; then Holm's procedure, which upskill uses, and three that bound the
// false share instead. One argument: tables per setting (default 1000). Seeds are fixed; ± is one Monte Carlo standard
// error. Exits with 1 if a table has a false word that stands more often than 5 %, by more than four of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "stats/e_process.h"
#include "stats/multiplicity.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "stats/unit_counts.h"
#include "util/rng.h"

namespace upskill {
namespace {

constexpr double kAlpha = 0.05;

struct Setting {
  std::string name;
  int skills = 20;
  int models = 3;
  int cases = 12;
  int rounds = 5;
  double without = 0.5;
  double lift = 0.25;   // of the skills that help
  int helping = 10;     // that many skills do
  double spread = 0.0;  // of the cases' rates, around `without`
};

struct Verdicts {
  std::vector<double> p_values;
  std::vector<double> e_values;
  std::vector<bool> helps;  // what is true
};

using Passed = std::vector<std::vector<bool>>;  // by round and case

Passed Answers(const Setting& setting, double lift, Rng& rng) {
  Passed passed(static_cast<std::size_t>(setting.rounds));
  for (std::vector<bool>& round : passed) {
    for (int i = 0; i < setting.cases; ++i) {
      const double rate = setting.without + lift + (i % 2 == 0 ? setting.spread : -setting.spread);
      round.push_back(rng.Uniform() < rate);
    }
  }
  return passed;
}

void AddVerdict(const Setting& setting, const Passed& without, const Passed& with, Verdicts& verdicts) {
  std::vector<std::vector<double>> changes;
  UnitCounts totals;
  for (std::size_t round = 0; round < without.size(); ++round) {
    std::vector<double>& change = changes.emplace_back();
    for (std::size_t i = 0; i < without[round].size(); ++i) {
      const int difference = static_cast<int>(with[round][i]) - static_cast<int>(without[round][i]);
      change.push_back(difference);
      totals.Add(1, difference);
    }
  }
  verdicts.p_values.push_back(SequentialPValuesOf(changes, SpendingSchedule(setting.rounds, false)).helps);
  verdicts.e_values.push_back(std::exp(LogEvidence(totals)));
}

Verdicts DrawTable(const Setting& setting, Rng& rng) {
  Verdicts verdicts;
  for (int model = 0; model < setting.models; ++model) {
    const Passed without = Answers(setting, 0.0, rng);
    for (int skill = 0; skill < setting.skills; ++skill) {
      const bool helps = skill < setting.helping;
      AddVerdict(setting, without, Answers(setting, helps ? setting.lift : 0.0, rng), verdicts);
      verdicts.helps.push_back(helps);
    }
  }
  return verdicts;
}

// Rejects the k smallest values for the largest k of which the k-th is at most its level.
std::vector<bool> StepUp(const std::vector<double>& values, const std::function<double(std::size_t)>& level) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  double largest = -1.0;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    if (sorted[k - 1] <= level(k)) largest = sorted[k - 1];
  }
  std::vector<bool> rejected;
  for (const double value : values) rejected.push_back(value <= largest);
  return rejected;
}

// Y. Benjamini and Y. Hochberg, J. Royal Statistical Society B 57 (1995) 289: for independent or positively dependent
// tests. With `any`, for all: Y. Benjamini and D. Yekutieli, Ann. Statistics 29 (2001) 1165.
std::vector<bool> Benjamini(const Verdicts& verdicts, bool any) {
  const std::size_t count = verdicts.p_values.size();
  double harmonic = 1.0;
  for (std::size_t i = 2; any && i <= count; ++i) harmonic += 1.0 / static_cast<double>(i);
  return StepUp(verdicts.p_values, [&](std::size_t k) {
    return kAlpha * static_cast<double>(k) / (static_cast<double>(count) * harmonic);
  });
}

// e-BH, for all: R. Wang and A. Ramdas, J. Royal Statistical Society B 84 (2022) 822.
std::vector<bool> EBenjaminiHochberg(const Verdicts& verdicts) {
  std::vector<double> inverse;
  for (const double e : verdicts.e_values) inverse.push_back(1.0 / e);
  return StepUp(inverse,
                [&](std::size_t k) { return kAlpha * static_cast<double>(k) / static_cast<double>(inverse.size()); });
}

std::vector<bool> AtMost(const std::vector<double>& values, double level) {
  std::vector<bool> at_most;
  for (const double value : values) at_most.push_back(value <= level);
  return at_most;
}

struct Procedure {
  const char* name;
  std::function<std::vector<bool>(const Verdicts&)> stands;
};

const std::array<Procedure, 5>& Procedures() {
  static const std::array<Procedure, 5> procedures = {{
      {"each by itself", [](const Verdicts& all) { return AtMost(all.p_values, kAlpha); }},
      {"Holm", [](const Verdicts& all) { return AtMost(HolmAdjusted(all.p_values, all.p_values.size()), kAlpha); }},
      {"Benjamini-Hochberg", [](const Verdicts& all) { return Benjamini(all, false); }},
      {"Benjamini-Yekutieli", [](const Verdicts& all) { return Benjamini(all, true); }},
      {"e-BH", EBenjaminiHochberg},
  }};
  return procedures;
}

struct Tally {
  double any_false = 0.0;    // tables with a false word
  double false_share = 0.0;  // of the words of a table, on average
  double found = 0.0;        // share of the skills that help
};

void Count(const Verdicts& verdicts, const std::vector<bool>& stands, double weight, Tally& tally) {
  double wrong = 0.0;
  double right = 0.0;
  double helping = 0.0;
  for (std::size_t i = 0; i < stands.size(); ++i) {
    helping += verdicts.helps[i] ? 1.0 : 0.0;
    if (stands[i]) (verdicts.helps[i] ? right : wrong) += 1.0;
  }
  tally.any_false += wrong > 0.0 ? weight : 0.0;
  tally.false_share += weight * wrong / std::max(1.0, wrong + right);
  tally.found += helping > 0.0 ? weight * right / helping : 0.0;
}

// Whether Holm's procedure keeps its promise.
bool Simulate(const Setting& setting, int draws) {
  Rng rng(SeedFromText(setting.name));
  std::array<Tally, 5> tallies;
  for (int draw = 0; draw < draws; ++draw) {
    const Verdicts verdicts = DrawTable(setting, rng);
    for (std::size_t i = 0; i < tallies.size(); ++i)
      Count(verdicts, Procedures()[i].stands(verdicts), 1.0 / draws, tallies[i]);
  }
  fmt::print("{}: {} skills × {} models, {} cases × {} rounds; {} skills help, by {:.0f} points\n", setting.name,
             setting.skills, setting.models, setting.cases, setting.rounds, setting.helping, 100.0 * setting.lift);
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Tally& tally = tallies[i];
    const double error = std::sqrt(tally.any_false * (1.0 - tally.any_false) / draws);
    fmt::print("  {:<20} {:>5.1f} ± {:.1f}   {:>5.2f}   {:>5.1f}\n", Procedures()[i].name, 100.0 * tally.any_false,
               100.0 * error, 100.0 * tally.false_share, 100.0 * tally.found);
  }
  return tallies[1].any_false <= kAlpha + 4.0 * std::sqrt(kAlpha * (1.0 - kAlpha) / draws);
}

int Main(int draws) {
  fmt::print("in %: tables with a false `helps`, false ones among those said, helping skills that are found\n");
  std::vector<Setting> settings(5);
  settings[0].name = "nothing helps";
  settings[0].helping = 0;
  settings[1].name = "half help";
  settings[2].name = "half help, cases differ";
  settings[2].spread = 0.25;
  settings[3].name = "a small table";
  settings[3].skills = 4;
  settings[3].models = 2;
  settings[3].helping = 2;
  settings[4].name = "a large table";
  settings[4].skills = 100;
  settings[4].models = 12;
  settings[4].helping = 30;
  bool kept = true;
  for (const Setting& setting : settings) {
    const bool large = setting.skills * setting.models > 500;
    kept = Simulate(setting, large ? std::max(1, draws / 10) : draws) && kept;
  }
  if (!kept) fmt::print("MISSED: a false word stands in more than {} % of the tables\n", 100.0 * kAlpha);
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) { return upskill::Main(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000); }
