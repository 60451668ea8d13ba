// SPDX-License-Identifier: Apache-2.0
#include "stats/power.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "stats/e_process.h"

namespace upskill {
namespace {

enum class Word { kHelps, kHurts, kNoEffect, kUndecided };

// Looks at one simulated run after every round.
class Looker {
 public:
  explicit Looker(const SequentialRule& rule)
      : rule_(rule), table_(rule.alpha), decides_(std::log(1.0 / rule.alpha)), rules_out_(std::log(2.0 / rule.alpha)) {}

  void Start() { above_ = below_ = false; }

  Word Look(const PairCounts& totals) {
    if (Helps(totals)) return Word::kHelps;
    if (table_.Decides(static_cast<int>(totals.losses), static_cast<int>(totals.wins))) return Word::kHurts;
    if (rule_.margin <= 0.0) return Word::kUndecided;
    above_ = above_ || LogEvidence(totals, -rule_.margin) >= rules_out_;
    below_ = below_ || LogEvidence(totals.Mirrored(), -rule_.margin) >= rules_out_;
    return above_ && below_ ? Word::kNoEffect : Word::kUndecided;
  }

 private:
  bool Helps(const PairCounts& totals) {
    if (rule_.min_lift == 0.0) return table_.Decides(static_cast<int>(totals.wins), static_cast<int>(totals.losses));
    return LogEvidence(totals, rule_.min_lift) >= decides_;
  }

  SequentialRule rule_;
  DecisionTable table_;
  double decides_;
  double rules_out_;
  bool above_ = false;  // a lift of −margin or less is ruled out
  bool below_ = false;
};

}  // namespace

RuleOutcome SimulateRule(const std::vector<CaseRates>& cases, const SequentialRule& rule, int draws,
                         std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto passes = [&random](double rate) { return static_cast<double>(random() >> 11U) * 0x1.0p-53 < rate; };
  Looker looker(rule);
  RuleOutcome outcome;
  for (int draw = 0; draw < draws; ++draw) {
    PairCounts totals;
    looker.Start();
    Word word = Word::kUndecided;
    int round = 0;
    while (round < rule.rounds && word == Word::kUndecided) {
      for (const CaseRates& one : cases) {
        const bool without = passes(one.without);
        totals.Add(without, passes(one.with));
      }
      ++round;
      word = looker.Look(totals);
    }
    outcome.mean_rounds += round;
    if (word == Word::kHelps) outcome.helps += 1.0;
    if (word == Word::kHurts) outcome.hurts += 1.0;
    if (word == Word::kNoEffect) outcome.no_effect += 1.0;
  }
  const auto n = static_cast<double>(std::max(draws, 1));
  outcome.helps /= n;
  outcome.hurts /= n;
  outcome.no_effect /= n;
  outcome.mean_rounds /= n;
  outcome.standard_error = std::sqrt(outcome.helps * (1.0 - outcome.helps) / n);
  return outcome;
}

std::optional<double> DetectableLift(int cases, double rate, const SequentialRule& rule, double power, int draws,
                                     std::uint64_t seed) {
  const auto found = [&](int points) {
    const double with = std::min(1.0, rate + points / 100.0);
    const std::vector<CaseRates> equal(static_cast<std::size_t>(std::max(cases, 0)), {rate, with});
    return SimulateRule(equal, rule, draws, seed).helps >= power;
  };
  int high = static_cast<int>(std::ceil((1.0 - rate) * 100.0 - 1e-9));
  if (high < 1 || !found(high)) return std::nullopt;
  int low = 0;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (found(middle) ? high : low) = middle;
  }
  return std::min(1.0 - rate, high / 100.0);
}

}  // namespace upskill
