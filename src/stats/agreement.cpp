// SPDX-License-Identifier: Apache-2.0
#include "stats/agreement.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/hypergeometric.hpp>
#include <cmath>
#include <compare>
#include <cstddef>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "stats/exact_rate.h"
#include "stats/quantile.h"
#include "util/rng.h"

namespace upskill {
namespace {

using Table = std::array<double, 4>;  // both pass, judge only, people only, both fail

// A 2x2 table of probabilities with a given kappa: `balance` is P(both pass) − P(both fail), `skew` is P(judge only) −
// P(people only). Chance disagreement is (1 − balance² + skew²)/2, and disagreement 1 − kappa times that.
struct TableWithKappa {
  double kappa = 0.0;
  double balance = 0.0;
  double skew = 0.0;

  Table Cells() const {
    const double differ = 0.5 * (1.0 - kappa) * (1.0 - balance * balance + skew * skew);
    return {0.5 * (1.0 - differ + balance), 0.5 * (differ + skew), 0.5 * (differ - skew),
            0.5 * (1.0 - differ - balance)};
  }
};

// −infinity outside of the parameters' range.
double LogLikelihood(const Table& counts, const Table& cells) {
  double sum = 0.0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] <= 0.0) return -std::numeric_limits<double>::infinity();
    sum += counts[i] * std::log(cells[i]);
  }
  return sum;
}

// The step of Fisher scoring: the inverse of the expected information times the gradient.
TableWithKappa ScoringStep(const Table& counts, double total, const TableWithKappa& at) {
  const Table cells = at.Cells();
  const double by_balance = -(1.0 - at.kappa) * at.balance;  // derivatives of the disagreement
  const double by_skew = (1.0 - at.kappa) * at.skew;
  const Table u = {0.5 * (1.0 - by_balance), 0.5 * by_balance, 0.5 * by_balance, 0.5 * (-1.0 - by_balance)};
  const Table v = {-0.5 * by_skew, 0.5 * (by_skew + 1.0), 0.5 * (by_skew - 1.0), -0.5 * by_skew};
  double gradient_u = 0.0;
  double gradient_v = 0.0;
  double uu = 0.0;
  double uv = 0.0;
  double vv = 0.0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    gradient_u += counts[i] * u[i] / cells[i];
    gradient_v += counts[i] * v[i] / cells[i];
    uu += total * u[i] * u[i] / cells[i];
    uv += total * u[i] * v[i] / cells[i];
    vv += total * v[i] * v[i] / cells[i];
  }
  const double determinant = uu * vv - uv * uv;
  if (!(determinant > 0.0)) return {at.kappa, 0.0, 0.0};
  return {at.kappa, (vv * gradient_u - uv * gradient_v) / determinant,
          (uu * gradient_v - uv * gradient_u) / determinant};
}

// The most likely table with this kappa, in (-1, 1).
Table FitWithKappa(Table counts, double total, double kappa) {
  constexpr int kMostFittingSteps = 200;
  constexpr int kMostHalvings = 50;
  for (double& count : counts) count = std::max(count, 1e-7);  // keeps the cells away from 0, where the steps end
  TableWithKappa best{kappa};
  double likelihood = LogLikelihood(counts, best.Cells());
  for (int steps = 0; steps < kMostFittingSteps; ++steps) {
    const TableWithKappa step = ScoringStep(counts, total, best);
    double gain = 0.0;
    double size = 1.0;
    for (int halvings = 0; halvings < kMostHalvings && gain <= 0.0; ++halvings, size *= 0.5) {
      const TableWithKappa next{kappa, best.balance + size * step.balance, best.skew + size * step.skew};
      gain = LogLikelihood(counts, next.Cells()) - likelihood;
      if (gain <= 0.0) continue;
      best = next;
    }
    if (gain <= 0.0) break;
    likelihood += gain;
    if (gain < 1e-12 * total) break;
  }
  return best.Cells();
}

// Pearson's X², which is Rao's score statistic for a multinomial.
double ScoreOfKappa(const Table& counts, double total, double kappa) {
  const Table cells = FitWithKappa(counts, total, kappa);
  double sum = 0.0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double expected = total * cells[i];
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

// Between the estimate and `end`.
double LimitOfKappa(const Table& counts, double total, double estimate, double end, double critical) {
  double kept = estimate;
  double rejected = end;
  while (std::abs(kept - rejected) > 1e-9) {
    const double middle = 0.5 * (kept + rejected);
    (ScoreOfKappa(counts, total, middle) <= critical ? kept : rejected) = middle;
  }
  return rejected;
}

// What alpha needs of an item, and of all items as a weighted sum.
struct LabelSums {
  double passes = 0.0;
  double fails = 0.0;
  double disagreement = 0.0;  // ordered pairs of labels that differ, over labels − 1

  auto operator<=>(const LabelSums&) const = default;

  void Add(const LabelSums& other, double weight) {
    passes += weight * other.passes;
    fails += weight * other.fails;
    disagreement += weight * other.disagreement;
  }
};

std::optional<LabelSums> SumsOfItem(const ItemLabels& item) {
  LabelSums sums;
  for (const std::optional<bool>& label : item) {
    if (label) (*label ? sums.passes : sums.fails) += 1.0;
  }
  const double labels = sums.passes + sums.fails;
  if (labels < 2.0) return std::nullopt;
  sums.disagreement = 2.0 * sums.passes * sums.fails / (labels - 1.0);
  return sums;
}

// 1 − observed/expected disagreement. `drawn`: labels that two draws can't share, 1 in a sample and 0 in a population.
double AlphaOf(const LabelSums& sums, double drawn) {
  const double labels = sums.passes + sums.fails;
  return 1.0 - (labels - drawn) * sums.disagreement / (2.0 * sums.passes * sums.fails);
}

// The sum of that many standard exponentials: the logarithm of a product, taken before that is too small for a double.
double ExponentialSum(int count, Rng& rng) {
  constexpr int kFactors = 16;  // each at least 2^-53
  double sum = 0.0;
  double product = 1.0;
  for (int i = 1; i <= count; ++i) {
    product *= 1.0 - rng.Uniform();
    if (i % kFactors != 0) continue;
    sum -= std::log(product);
    product = 1.0;
  }
  return sum - std::log(product);
}

// Gamma with shape ½: half the square of a standard normal (G. E. P. Box and M. E. Muller, 1958).
double HalfGammaDraw(Rng& rng) {
  const double wave = std::cos(2.0 * std::numbers::pi * rng.Uniform());
  return ExponentialSum(1, rng) * wave * wave;
}

// `items`: how many there are of each kind.
double DrawAlpha(const std::map<LabelSums, int>& items, double labels_per_item, Rng& rng) {
  LabelSums drawn;
  for (const auto& [item, count] : items) drawn.Add(item, ExponentialSum(count, rng));
  const double half = 0.5 * labels_per_item;
  drawn.Add({labels_per_item, 0.0, 0.0}, HalfGammaDraw(rng));
  drawn.Add({0.0, labels_per_item, 0.0}, HalfGammaDraw(rng));
  drawn.Add({half, half, 2.0}, ExponentialSum(1, rng));  // the mean of one dissenter who passes and one who fails
  return AlphaOf(drawn, 0.0);
}

AgreementEstimate RateOf(double passed, double total, double confidence) {
  return {passed / total, EffectiveRateInterval(passed, total, confidence)};
}

// Fisher's exact test, two-sided: whether `errors_a` of `of_a` and `errors_b` of `of_b` have one rate.
double FisherTest(std::int64_t errors_a, std::int64_t of_a, std::int64_t errors_b, std::int64_t of_b) {
  const std::int64_t errors = errors_a + errors_b;
  const boost::math::hypergeometric among_a(static_cast<unsigned>(errors), static_cast<unsigned>(of_a),
                                            static_cast<unsigned>(of_a + of_b));
  const double seen = boost::math::pdf(among_a, errors_a);
  double p = 0.0;
  for (std::int64_t k = std::max<std::int64_t>(0, errors - of_b); k <= std::min(errors, of_a); ++k) {
    const double one = boost::math::pdf(among_a, k);
    if (one <= seen * (1.0 + 1e-9)) p += one;
  }
  return std::min(1.0, p);
}

}  // namespace

std::optional<AgreementEstimate> CohenKappa(const ConfusionCounts& counts, double confidence) {
  const Table table = {static_cast<double>(counts.both_pass), static_cast<double>(counts.judge_only),
                       static_cast<double>(counts.people_only), static_cast<double>(counts.both_fail)};
  const auto total = static_cast<double>(counts.total());
  const double judge_passes = table[0] + table[1];
  const double people_pass = table[0] + table[2];
  const double chance = judge_passes * (total - people_pass) + people_pass * (total - judge_passes);
  if (chance <= 0.0) return std::nullopt;
  const double kappa = std::clamp(1.0 - total * (table[1] + table[2]) / chance, -1.0, 1.0);
  const double z = NormalCritical(confidence);
  return AgreementEstimate{
      kappa, {LimitOfKappa(table, total, kappa, -1.0, z * z), LimitOfKappa(table, total, kappa, 1.0, z * z)}};
}

std::optional<AgreementEstimate> KrippendorffAlpha(const std::vector<ItemLabels>& items, std::uint64_t seed,
                                                   double confidence) {
  constexpr std::size_t kDraws = 2000;
  std::map<LabelSums, int> kinds;
  LabelSums all;
  double counted = 0.0;
  for (const ItemLabels& item : items) {
    const std::optional<LabelSums> sums = SumsOfItem(item);
    if (!sums) continue;
    ++kinds[*sums];
    counted += 1.0;
    all.Add(*sums, 1.0);
  }
  if (all.passes <= 0.0 || all.fails <= 0.0) return std::nullopt;
  const double labels_per_item = (all.passes + all.fails) / counted;
  Rng rng(seed);
  std::vector<double> draws(kDraws);
  for (double& draw : draws) draw = DrawAlpha(kinds, labels_per_item, rng);
  std::sort(draws.begin(), draws.end());
  const auto tail = static_cast<std::size_t>(0.5 * (1.0 - confidence) * static_cast<double>(kDraws));
  const double value = std::clamp(AlphaOf(all, 1.0), -1.0, 1.0);
  return AgreementEstimate{value,
                           {std::min(value, std::max(-1.0, draws[tail])), std::max(value, draws[kDraws - 1 - tail])}};
}

std::optional<JudgeRates> RatesOfJudge(const EffectiveCounts& counts, double confidence) {
  if (counts.people_pass() <= 0.0 || counts.people_fail() <= 0.0) return std::nullopt;
  return JudgeRates{RateOf(counts.both_pass, counts.people_pass(), confidence),
                    RateOf(counts.both_fail, counts.people_fail(), confidence)};
}

EffectiveCounts EffectiveOf(const ConfusionCounts& counts) {
  return {static_cast<double>(counts.both_pass), static_cast<double>(counts.judge_only),
          static_cast<double>(counts.people_only), static_cast<double>(counts.both_fail)};
}

EffectiveCounts EffectiveOf(const std::vector<WeightedLabel>& labels) {
  const auto agreed_and_not = [&](bool people_pass) {
    double sum = 0.0;
    double squares = 0.0;
    double agreed = 0.0;
    for (const WeightedLabel& label : labels) {
      if (label.people_pass != people_pass) continue;
      sum += label.times;
      squares += label.times * label.times;
      if (label.judge_passes == people_pass) agreed += label.times;
    }
    if (sum <= 0.0) return std::pair(0.0, 0.0);
    const double items = sum * sum / squares;
    return std::pair(items * agreed / sum, items * (sum - agreed) / sum);
  };
  const auto [both_pass, people_only] = agreed_and_not(true);
  const auto [both_fail, judge_only] = agreed_and_not(false);
  return {both_pass, judge_only, people_only, both_fail};
}

bool ErrsDifferently(const ConfusionCounts& a, const ConfusionCounts& b) {
  constexpr double kAlphaEach = 0.025;
  return FisherTest(a.people_only, a.people_only + a.both_pass, b.people_only, b.people_only + b.both_pass) <=
             kAlphaEach ||
         FisherTest(a.judge_only, a.judge_only + a.both_fail, b.judge_only, b.judge_only + b.both_fail) <= kAlphaEach;
}

}  // namespace upskill
