// SPDX-License-Identifier: Apache-2.0
#include "stats/power.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <random>

#include "stats/e_process.h"
#include "stats/interval.h"
#include "stats/pair_counts.h"
#include "stats/quantile.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"

namespace upskill {
namespace {

constexpr double kMostExact = 400.0;  // differing pairs for which critical values are computed for each simulated run

enum class Word { kHelps, kHurts, kNoEffect, kUndecided };

// Reproducible draws.
class Passes {
 public:
  explicit Passes(std::uint64_t seed) : random_(seed) {}
  bool operator()(double rate) { return Uniform() < rate; }
  double Uniform() { return static_cast<double>(random_() >> 11U) * 0x1.0p-53; }

 private:
  std::mt19937_64 random_;
};

double DifferingPerRound(const std::vector<CaseRates>& cases) {
  double sum = 0.0;
  for (const CaseRates& one : cases) sum += one.without * (1.0 - one.with) + one.with * (1.0 - one.without);
  return sum;
}

SpendingSchedule ScheduleOf(const SequentialRule& rule) {
  return SpendingSchedule(rule.planned > 0 ? rule.planned : rule.rounds);
}

// The critical values of each round as multiples of the root of the number of differing pairs, for the expected number.
std::vector<double> ExpectedBoundary(double per_round, const SequentialRule& rule) {
  SignFlipSequence sequence(rule.alpha, ScheduleOf(rule));
  std::vector<double> boundary;
  int pairs = 0;
  for (int round = 1; round <= rule.rounds; ++round) {
    const int until = static_cast<int>(std::lround(per_round * round));
    sequence.AddRound(std::vector<double>(static_cast<std::size_t>(until - pairs), 1.0));
    pairs = until;
    const auto critical = static_cast<double>(sequence.critical().back());
    boundary.push_back(pairs > 0 && critical <= pairs ? (critical - 1.0) / std::sqrt(static_cast<double>(pairs))
                                                      : std::numeric_limits<double>::infinity());
  }
  return boundary;
}

// Looks at one simulated run after every round.
class Looker {
 public:
  Looker(const SequentialRule& rule, double differing_per_round)
      : rule_(rule),
        sequence_(Sequence()),
        decides_(std::log(1.0 / rule.alpha)),
        rules_out_(std::log(1.0 / rule.alpha)) {
    if (differing_per_round * rule.rounds > kMostExact) boundary_ = ExpectedBoundary(differing_per_round, rule);
  }

  void Start() {
    above_ = below_ = false;
    totals_ = {};
    round_ = 0;
    if (boundary_.empty()) sequence_ = Sequence();
  }

  Word Look(const PairCounts& counts) {
    totals_ += counts;
    ++round_;
    const Word word = Test(counts);
    if (word != Word::kUndecided || rule_.margin <= 0.0) return word;
    above_ = above_ || LogEvidence(totals_, -rule_.margin) >= rules_out_;
    below_ = below_ || LogEvidence(totals_.Mirrored(), -rule_.margin) >= rules_out_;
    return above_ && below_ ? Word::kNoEffect : Word::kUndecided;
  }

 private:
  SignFlipSequence Sequence() const { return {rule_.alpha, ScheduleOf(rule_)}; }

  Word Test(const PairCounts& counts) {
    const double sum = totals_.wins - totals_.losses;
    bool helps = false;
    bool hurts = false;
    if (boundary_.empty()) {
      std::vector<double> changes(static_cast<std::size_t>(counts.wins), 1.0);
      changes.resize(changes.size() + static_cast<std::size_t>(counts.losses), -1.0);
      sequence_.AddRound(changes);
      helps = sequence_.helps_round() > 0;
      hurts = sequence_.hurts_round() > 0;
    } else {
      const double critical =
          boundary_[static_cast<std::size_t>(round_ - 1)] * std::sqrt(totals_.wins + totals_.losses) + 1.0;
      helps = sum >= critical;
      hurts = -sum >= critical;
    }
    if (rule_.min_lift > 0.0) helps = LogEvidence(totals_, rule_.min_lift) >= decides_;
    if (helps) return Word::kHelps;
    return hurts ? Word::kHurts : Word::kUndecided;
  }

  SequentialRule rule_;
  SignFlipSequence sequence_;
  std::vector<double> boundary_;  // empty: exact
  double decides_;
  double rules_out_;
  PairCounts totals_;
  int round_ = 0;
  bool above_ = false;  // a lift of −margin or less is ruled out
  bool below_ = false;
};

}  // namespace

RuleOutcome SimulateRule(const std::vector<CaseRates>& cases, const SequentialRule& rule, int draws,
                         std::uint64_t seed) {
  Passes passes(seed);
  Looker looker(rule, DifferingPerRound(cases));
  RuleOutcome outcome;
  for (int draw = 0; draw < draws; ++draw) {
    looker.Start();
    Word word = Word::kUndecided;
    int round = 0;
    while (round < rule.rounds && word == Word::kUndecided) {
      PairCounts counts;
      for (const CaseRates& one : cases) {
        const bool without = passes(one.without);
        counts.Add(without, passes(one.with));
      }
      ++round;
      word = looker.Look(counts);
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

std::vector<CaseRates> WithLift(const std::vector<double>& baseline, double lift) {
  double room = 0.0;
  for (const double rate : baseline) room += 1.0 - rate;
  const double share = room > 0.0 ? std::min(1.0, lift * static_cast<double>(baseline.size()) / room) : 0.0;
  std::vector<CaseRates> rates;
  rates.reserve(baseline.size());
  for (const double rate : baseline) rates.push_back({rate, rate + share * (1.0 - rate)});
  return rates;
}

std::optional<double> DetectableLift(const std::vector<double>& baseline, const SequentialRule& rule, double power,
                                     int draws, std::uint64_t seed) {
  double room = 0.0;
  for (const double rate : baseline) room += (1.0 - rate) / static_cast<double>(baseline.size());
  const auto found = [&](int points) {
    return SimulateRule(WithLift(baseline, std::min(room, points / 100.0)), rule, draws, seed).helps >= power;
  };
  int high = static_cast<int>(std::ceil(room * 100.0 - 1e-9));
  if (high < 1 || !found(high)) return std::nullopt;
  int low = 0;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (found(middle) ? high : low) = middle;
  }
  return std::min(room, high / 100.0);
}

std::optional<int> RoundsForNoEffect(const std::vector<double>& baseline, const SequentialRule& rule, double power,
                                     int most) {
  const double differing = DifferingPerRound(WithLift(baseline, 0.0));
  const auto cases = static_cast<double>(baseline.size());
  const double away = NormalCritical(power);  // the sum is within this many standard deviations
  const auto shows = [&](int rounds) {
    const double pairs = differing * rounds;
    const double sum = std::min(pairs, away * std::sqrt(pairs));
    const PairCounts totals{0.5 * (pairs - sum), cases * rounds - pairs, 0.5 * (pairs + sum)};
    return LogEvidence(totals, -rule.margin) >= std::log(1.0 / rule.alpha);
  };
  if (rule.margin <= 0.0 || baseline.empty() || !shows(most)) return std::nullopt;
  int low = 0;
  int high = most;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (shows(middle) ? high : low) = middle;
  }
  return high;
}

std::optional<int> CasesForGeneral(const std::vector<double>& baseline, double lift, const SequentialRule& rule,
                                   double power, int draws, std::uint64_t seed, int most) {
  const std::vector<CaseRates> kinds = WithLift(baseline, lift);
  const double level =
      rule.alpha * ScheduledLooks(rule.planned > 0 ? rule.planned : rule.rounds, rule.rounds).back().share;
  const auto shows = [&](int cases) {
    Passes passes(seed);
    int found = 0;
    std::vector<double> lifts(static_cast<std::size_t>(cases));
    for (int draw = 0; draw < draws; ++draw) {
      for (double& one : lifts) {
        const auto kind = static_cast<std::size_t>(passes.Uniform() * static_cast<double>(kinds.size()));
        PairCounts counts;
        for (int round = 0; round < rule.rounds; ++round) {
          const bool without = passes(kinds[kind].without);
          counts.Add(without, passes(kinds[kind].with));
        }
        one = counts.lift();
      }
      found += BoundedMeanSaddlepoint(lifts) <= level ? 1 : 0;
    }
    return found >= power * draws;
  };
  if (baseline.empty() || lift <= 0.0) return std::nullopt;
  // Without any variation among cases it takes log(1/level) / log(1 + lift).
  int high = std::max(static_cast<int>(kFewestCasesForNew), static_cast<int>(-std::log(level) / std::log1p(lift)));
  int low = high - 1;
  while (!shows(high)) {
    low = high;
    high += std::max(1, high / 4);
    if (low >= most) return std::nullopt;
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (shows(middle) ? high : low) = middle;
  }
  if (high > most) return std::nullopt;
  return high;
}

double BoundedMeanSaddlepoint(const std::vector<double>& values) {
  // P(Σ Eᵢ yᵢ <= 0) for exponential Eᵢ, whose cumulants are K(s) = −Σ log(1 − s yᵢ); one more y is −1.
  struct Cumulants {
    double value = 0.0;
    double slope = 0.0;
    double bend = 0.0;
  };
  const auto cumulants = [&](double s) {
    Cumulants k{-std::log1p(s), -1.0 / (1.0 + s), 1.0 / ((1.0 + s) * (1.0 + s))};
    for (const double y : values) {
      const double rest = 1.0 - s * y;
      k.value -= std::log(rest);
      k.slope += y / rest;
      k.bend += y * y / (rest * rest);
    }
    return k;
  };
  const auto slope = [&](double s) {
    double sum = -1.0 / (1.0 + s);
    for (const double y : values) sum += y / (1.0 - s * y);
    return sum;
  };
  if (slope(0.0) <= 1e-9) return 1.0;  // not above 0.5: of no interest
  double low = -1.0;
  double high = 0.0;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (slope(middle) < 0.0 ? low : high) = middle;
  }
  const Cumulants k = cumulants(high);
  const double w = -std::sqrt(std::max(0.0, -2.0 * k.value));
  const double u = high * std::sqrt(k.bend);
  if (w == 0.0 || u == 0.0) return 1.0;
  const double density = std::exp(-0.5 * w * w) / std::sqrt(2.0 * std::numbers::pi);
  return std::clamp(0.5 * std::erfc(-w / std::sqrt(2.0)) + density * (1.0 / w - 1.0 / u), 0.0, 1.0);
}

}  // namespace upskill
