// SPDX-License-Identifier: Apache-2.0
// The clause `not-regressed` of gates: how often it fails, and how often it lets pass after the first look.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "stats/loss_guard.h"
#include "util/rng.h"
#include "verdict_claims.h"

namespace upskill {
namespace {

constexpr int kMostRounds = 30;  // of eval --stop-when-decided

// Cases that pass in `rate` of the answers: all alike, or a third always and the others spread on both sides.
std::vector<double> CasesAt(double rate, int count, bool differ) {
  if (!differ) return std::vector<double>(static_cast<std::size_t>(count), rate);
  std::vector<double> cases(static_cast<std::size_t>(count / 3), 1.0);
  const int others = count - count / 3;
  const double mean = (rate * count - count / 3) / others;
  for (int i = 0; i < others; ++i)
    cases.push_back(std::clamp(mean + (i % 2 == 0 ? 0.5 : -0.5) * (1.0 - mean), 0.0, 1.0));
  return cases;
}

struct GuardResult {
  double shown = 0.0;          // shares of the runs
  double at_first_look = 0.0;  // that pass at the first look at which they may
  double within_40 = 0.0;      // shown by then, or after the first round
  double answers = 0.0;        // mean
};

// A loss takes the same share of each case's passes.
GuardResult Simulate(const std::vector<double>& cases, double loss, int rounds, bool stops, int draws) {
  double mean = 0.0;
  for (const double one : cases) mean += one / static_cast<double>(cases.size());
  const auto units = static_cast<std::int64_t>(cases.size());
  const LossGuard guard(kAlpha, stops);
  GuardResult result;
  Rng rng(SeedFromText(fmt::format("{} {} {} {}", cases.size(), mean, loss, stops)));
  for (int draw = 0; draw < draws; ++draw) {
    std::int64_t net = 0;
    int look = 0;
    for (int round = 1; round <= rounds; ++round) {
      for (const double one : cases)
        net += (rng.Uniform() < one ? 1 : 0) - (rng.Uniform() < one * (1.0 - loss / mean) ? 1 : 0);
      if (stops ? round * units < LossGuard::kFewestPairs : round < rounds) continue;
      const LossGuard::State state = guard.At(++look, round * units, net);
      if (state == LossGuard::State::kOpen && round < rounds) continue;
      const bool shown = state == LossGuard::State::kShown;
      result.shown += shown ? 1.0 / draws : 0.0;
      result.at_first_look += !shown && look == 1 ? 1.0 / draws : 0.0;
      result.within_40 += shown && (round == 1 || 2 * round * units <= 40) ? 1.0 / draws : 0.0;
      result.answers += 2.0 * static_cast<double>(round * units) / draws;
      break;
    }
  }
  return result;
}

void PrintRow(int count, double rate, bool differ, int rounds, bool stops, int draws, Claims& claims) {
  const std::vector<double> cases = CasesAt(rate, count, differ);
  std::string row = fmt::format("   {:5}  {:>4}  {:5}  {:>14}", count, Percent(rate), differ ? "yes" : "no",
                                stops ? "until decided" : fmt::format("{}", rounds));
  const std::string what = "not-regressed," + row;
  GuardResult equal;
  for (const double loss : {0.0, 0.2, 0.3, 0.5}) {
    const GuardResult result = Simulate(cases, loss, rounds, stops, draws);
    row += fmt::format("  {:>5}", Percent(result.shown));
    if (loss == 0.0) equal = result;
    if (loss == 0.5 && stops) row += fmt::format("  {:>9}", Percent(result.within_40));
  }
  claims.AtMost(equal.shown, kAlpha, draws, what);
  if (stops) {
    claims.AtLeast(equal.at_first_look, 0.94, draws, what + ", first look");
    row += fmt::format("  {:>10}  {:>7.1f}", Percent(equal.at_first_look), equal.answers);
  }
  fmt::print("{}\n", row);
}

}  // namespace

void PrintGuard(int draws, Claims& claims) {
  fmt::print(
      "\nnot-regressed: how often a loss is shown, in %; of equal versions, how many pass at the first look\n\n"
      "   cases  rate  vary           rounds   none     20     30     50  within 40  first look  answers\n");
  for (const bool stops : {true, false}) {
    for (const int rounds : stops ? std::vector{kMostRounds} : std::vector{1, 2}) {
      for (const int count : {6, 8, 12, 20, 30}) {
        for (const double rate : {0.7, 0.8, 0.9, 0.95}) {
          for (const bool differ : {false, true}) PrintRow(count, rate, differ, rounds, stops, draws, claims);
        }
      }
    }
  }
}

}  // namespace upskill
