// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "stats/multiplicity.h"
#include "verdict_claims.h"
#include "verdict_run.h"

namespace upskill {
namespace {

constexpr int kPlanned = 10;
constexpr int kRun = 20;
constexpr double kMostExcluded = 0.2;  // of the cases (eval/verdict/missing.h)

struct Situation {
  std::string name;
  SimulatedSuite suite;
  double drift = 0.0;             // of all rates, in each round
  double error = 0.0;             // probability that an answer with the skill ends in an error
  double error_of_failure = 0.0;  // the same for answers that would have failed: a timeout, say
  bool claimed = true;
};

std::vector<CaseRates> Equal(int cases, double without, double with) {
  return std::vector<CaseRates>(static_cast<std::size_t>(cases), CaseRates{without, with});
}

std::vector<CaseRates> Halves(int cases, const CaseRates& even, const CaseRates& odd) {
  std::vector<CaseRates> rates;
  rates.reserve(static_cast<std::size_t>(cases));
  for (int i = 0; i < cases; ++i) rates.push_back(i % 2 == 0 ? even : odd);
  return rates;
}

// One input that breaks with all its cases now and then; `others` inputs of ten cases each gain as much together, a
// case at a time.
SimulatedSuite SmallGainsForLosses(int others) {
  constexpr double kLoss = 0.3;
  SimulatedSuite suite{Equal(others, 0.0, kLoss / others), std::vector<int>(static_cast<std::size_t>(others), 10)};
  suite.units.push_back({kLoss, 0.0});
  suite.apart.push_back(1);
  return suite;
}

// The same with the arms exchanged: gains all at once, losses in small parts.
SimulatedSuite Exchanged(SimulatedSuite suite) {
  for (CaseRates& one : suite.units) std::swap(one.without, one.with);
  return suite;
}

std::string Inputs(int count) { return count == 1 ? "1 input" : fmt::format("{} inputs", count); }

std::vector<Situation> Situations() {
  std::vector<Situation> all;
  all.push_back({"12 cases, 50 > 50 %", {Equal(12, 0.5, 0.5), {}}});
  all.push_back({"4 inputs, any number of copies", {Equal(4, 0.5, 0.5), {}}});
  all.push_back({"the same, lifts cancel out", {Halves(4, {.3, .7}, {.7, .3}), {}}});
  all.push_back({"4 inputs of 3 cases, each its own answer", {Equal(4, 0.5, 0.5), {3, 3, 3, 3}}});
  all.push_back({"1 input 10 times breaks, 12 single ones gain", {Equal(12, 0.0, 0.0125), {}}});
  all.back().suite.units.push_back({0.15, 0.0});
  for (const int others : {1, 3, 11}) {
    const SimulatedSuite suite = SmallGainsForLosses(others);
    all.push_back({fmt::format("{} of 10 cases gain by parts, 1 breaks", Inputs(others)), suite});
    all.push_back({fmt::format("{} of 10 cases lose by parts, 1 gains", Inputs(others)), Exchanged(suite)});
  }
  all.push_back({"deterministic, half turn round", {Halves(12, {0, 1}, {1, 0}), {}}});
  all.push_back({"3 % flips, half turn round", {Halves(12, {.03, .97}, {.97, .03}), {}}});
  all.push_back({"3 % flips, no change", {Halves(12, {.03, .03}, {.97, .97}), {}}});
  all.push_back({"30 % + 2 points a round", {Equal(12, 0.3, 0.3), {}}, 0.02});
  all.push_back({"errors in 3 % of answers with the skill", {Equal(12, 0.5, 0.5), {}}, 0.0, 0.03});
  all.push_back({"3 % of failures with the skill time out", {Equal(12, 0.5, 0.5), {}}, 0.0, 0.0, 0.03, false});
  all.push_back({"20 % of failures with the skill time out", {Equal(12, 0.5, 0.5), {}}, 0.0, 0.0, 0.2, false});
  return all;
}

// After each round, only the cases without an error until then count, in all rounds, as in CompleteRounds; with too
// many excluded there is no word any more.
FirstWords RunWithErrors(const Situation& situation, Rng& rng) {
  const std::size_t units = situation.suite.units.size();
  std::vector<std::vector<double>> rounds;
  std::vector<bool> out(units, false);
  FirstWords first;
  for (int round = 1; round <= kRun; ++round) {
    std::vector<double> changes;
    for (std::size_t i = 0; i < units; ++i) {
      const CaseRates& rates = situation.suite.units[i];
      const bool without = rng.Uniform() < rates.without;
      const bool with = rng.Uniform() < rates.with;
      changes.push_back((with ? 1.0 : 0.0) - (without ? 1.0 : 0.0));
      const double error = situation.error + (with ? 0.0 : situation.error_of_failure);
      out[i] = out[i] || rng.Uniform() < error;
    }
    rounds.push_back(changes);
    if (static_cast<double>(std::count(out.begin(), out.end(), true)) > kMostExcluded * static_cast<double>(units))
      break;
    SignFlipSequence sequence(kAlpha, SpendingSchedule(kPlanned));
    for (const std::vector<double>& all : rounds) {
      std::vector<double> counting;
      for (std::size_t i = 0; i < units; ++i) {
        if (!out[i]) counting.push_back(all[i]);
      }
      sequence.AddRound(counting);
    }
    if (first.helps == 0 && sequence.helps_round() > 0) first.helps = round;
    if (first.hurts == 0 && sequence.hurts_round() > 0) first.hurts = round;
  }
  return first;
}

// Which of the tests, each on rounds of units, HolmRejects.
std::vector<bool> HolmOf(const std::vector<std::vector<std::vector<double>>>& tests, bool mirrored) {
  const SpendingSchedule schedule(kPlanned);
  return HolmRejects(tests.size(), kAlpha, [&](std::size_t test, double alpha) {
    SignFlipSequence sequence(alpha, schedule);
    for (const std::vector<double>& round : tests[test]) sequence.AddRound(round);
    return (mirrored ? sequence.hurts_round() : sequence.helps_round()) > 0;
  });
}

// Runs of students that all have the same suite; the first `helped` of them gain 40 points.
double AnyFalseAmongStudents(int students, int helped, int cases, int draws) {
  Rng rng(SeedFromText("students") + static_cast<unsigned>(cases + helped));
  int wrong = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::vector<std::vector<double>>> tests(static_cast<std::size_t>(students));
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const SimulatedSuite suite{Equal(cases, 0.5, static_cast<int>(i) < helped ? 0.9 : 0.5), {}};
      for (int round = 0; round < kPlanned; ++round) tests[i].push_back(DrawRound(suite, rng));
    }
    const std::vector<bool> rejects = HolmOf(tests, false);
    bool any = false;
    for (std::size_t i = static_cast<std::size_t>(helped); i < rejects.size(); ++i) any = any || rejects[i];
    wrong += any ? 1 : 0;
  }
  return static_cast<double>(wrong) / draws;
}

// All pairs of equally good choices, compared with each other on the same answers; both directions.
double AnyFalseAmongChoices(std::size_t choices, int cases, int draws) {
  Rng rng(SeedFromText("choices") + static_cast<unsigned>(cases));
  int wrong = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::vector<std::vector<double>>> tests(choices * (choices - 1) / 2);
    for (int round = 0; round < kPlanned; ++round) {
      std::vector<std::vector<double>> passes(choices);
      for (std::vector<double>& of_choice : passes) {
        for (int i = 0; i < cases; ++i) of_choice.push_back(rng.Uniform() < 0.5 ? 1.0 : 0.0);
      }
      std::size_t test = 0;
      for (std::size_t a = 0; a < choices; ++a) {
        for (std::size_t b = a + 1; b < choices; ++b, ++test) {
          std::vector<double>& changes = tests[test].emplace_back();
          for (std::size_t i = 0; i < passes[a].size(); ++i) changes.push_back(passes[a][i] - passes[b][i]);
        }
      }
    }
    bool any = false;
    for (const bool rejected : HolmOf(tests, false)) any = any || rejected;
    wrong += any ? 1 : 0;
  }
  return static_cast<double>(wrong) / draws;
}

}  // namespace

void PrintSituations(int draws, Claims& claims) {
  fmt::print(
      "\n4. False verdicts in special situations without a lift, in %, at any of {} looks, {} rounds planned ({} "
      "draws). "
      "Lines\n   with an asterisk are outside of what is claimed\n\n",
      kRun, kPlanned, draws);
  fmt::print("   situation                                       helps         hurts\n");
  for (const Situation& situation : Situations()) {
    Rng rng(SeedFromText(situation.name));
    double helps = 0.0;
    double hurts = 0.0;
    const bool errors = situation.error + situation.error_of_failure > 0.0;
    const int times = errors ? draws / 4 : draws;
    for (int draw = 0; draw < times; ++draw) {
      const FirstWords words =
          errors ? RunWithErrors(situation, rng)
                 : RunSignFlips(situation.suite, kAlpha, SpendingSchedule(kPlanned), kRun, rng, situation.drift);
      helps += words.helps > 0 ? 1.0 / times : 0.0;
      hurts += words.hurts > 0 ? 1.0 / times : 0.0;
    }
    if (situation.claimed) {
      claims.AtMost(helps, kAlpha, times, "false helps, " + situation.name);
      claims.AtMost(hurts, kAlpha, times, "false hurts, " + situation.name);
    }
    fmt::print("   {:<46}  {:>4} ± {:<5.2f}  {:>4} ± {:<5.2f}{}\n", situation.name, Percent(helps),
               100 * StandardError(helps, times), Percent(hurts), 100 * StandardError(hurts, times),
               situation.claimed ? "" : " *");
  }
}

void PrintMultiplicity(int draws, Claims& claims) {
  constexpr int kStudents = 10;
  constexpr int kChoices = 7;
  fmt::print(
      "\n5. Chance of any false `helps`, in %, by Holm's rule with a look after each of {} rounds: {} students, none "
      "helped; half of\n   them helped by 40 points; all {} comparisons of {} equally good choices\n\n",
      kPlanned, kStudents, kChoices * (kChoices - 1) / 2, kChoices);
  fmt::print("   cases  none helped   half helped   choices\n");
  for (const int cases : {3, 12, 50}) {
    const int times = cases > 20 ? draws / 20 : draws / 5;
    const std::array<double, 3> shares = {AnyFalseAmongStudents(kStudents, 0, cases, times),
                                          AnyFalseAmongStudents(kStudents, kStudents / 2, cases, times),
                                          AnyFalseAmongChoices(kChoices, cases, times)};
    fmt::print("   {:>5}", cases);
    for (const double share : shares) {
      claims.AtMost(share, kAlpha, times, fmt::format("any false helps among several, {} cases", cases));
      fmt::print("  {:>4} ± {:<5.2f}", Percent(share), 100 * StandardError(share, times));
    }
    fmt::print("\n");
  }
}

}  // namespace upskill
