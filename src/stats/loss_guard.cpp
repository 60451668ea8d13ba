// SPDX-License-Identifier: Apache-2.0
#include "stats/loss_guard.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "stats/exact_tests.h"

namespace upskill {
namespace {

constexpr double kShareBase = 3.0;         // each look may spend this many times less than the one before
constexpr double kSuspicion = 2.0;         // times alpha: up to this p-value, another round is worth while
constexpr std::int64_t kMostPairs = 2000;  // of a round, for chances: more only find smaller losses
constexpr int kMostLooks = 40;             // hardly a run gets there
constexpr double kImprobable = 1e-9;

// The chances of each net loss of `pairs` pairs, from −pairs on.
std::vector<double> NetLosses(std::int64_t pairs, double before, double after) {
  const boost::math::binomial old_passes(static_cast<double>(pairs), before);
  const boost::math::binomial new_passes(static_cast<double>(pairs), after);
  const auto size = static_cast<std::size_t>(pairs) + 1;
  std::vector<double> olds(size);
  std::vector<double> news(size);
  for (std::size_t i = 0; i < size; ++i) {
    olds[i] = boost::math::pdf(old_passes, static_cast<double>(i));
    news[i] = boost::math::pdf(new_passes, static_cast<double>(i));
  }
  std::vector<double> chances(2 * size - 1, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) chances[i + size - 1 - j] += olds[i] * news[j];
  }
  return chances;
}

}  // namespace

double LossGuard::PValue(std::int64_t pairs, std::int64_t net) {
  return net <= 0 ? 1.0 : SignTest(pairs + net, pairs - net);
}

std::int64_t LossGuard::LeastNet(std::int64_t pairs, double level) const {
  std::int64_t too_few = 0;
  std::int64_t enough = pairs + 1;
  while (enough - too_few > 1) {
    const std::int64_t middle = (too_few + enough) / 2;
    (PValue(pairs, middle) <= level ? enough : too_few) = middle;
  }
  return enough;
}

double LossGuard::Level(int look) const {
  return looks_again_ ? alpha_ * (kShareBase - 1.0) * std::pow(kShareBase, -look) : alpha_;
}

LossGuard::State LossGuard::At(int look, std::int64_t pairs, std::int64_t net) const {
  const double p = PValue(pairs, net);
  if (p <= Level(look)) return State::kShown;
  return looks_again_ && p <= kSuspicion * alpha_ ? State::kOpen : State::kNotShown;
}

double LossGuard::ChanceToShow(std::int64_t units, int rounds, double rate, double loss) const {
  // All rounds before the first look are one.
  const std::int64_t before_look =
      looks_again_ ? std::min<std::int64_t>(rounds, (kFewestPairs + units - 1) / units) : rounds;
  const auto looks = looks_again_ ? std::min<std::int64_t>(rounds - before_look + 1, kMostLooks) : 1;
  std::map<std::int64_t, double> open = {{0, 1.0}};  // the chance to be open, by net loss so far
  double shown = 0.0;
  std::int64_t pairs = 0;
  for (int look = 1; look <= looks; ++look) {
    const std::int64_t more = std::min(look == 1 ? units * before_look : units, kMostPairs);
    const std::vector<double> chances = NetLosses(more, rate, std::max(0.0, rate - loss));
    pairs += more;
    std::map<std::int64_t, double> next;
    for (const auto& [net, chance] : open) {
      for (std::size_t i = 0; i < chances.size(); ++i)
        next[net + static_cast<std::int64_t>(i) - more] += chance * chances[i];
    }
    const std::int64_t least = LeastNet(pairs, Level(look));
    open.clear();
    for (const auto& [net, chance] : next) {
      if (net >= least) {
        shown += chance;
      } else if (chance > kImprobable && At(look, pairs, net) == State::kOpen) {
        open.emplace(net, chance);
      }
    }
  }
  return shown;
}

std::optional<double> LossGuard::FindableLoss(std::int64_t units, int rounds, double rate, double power) const {
  const auto is_found = [&](int points) { return ChanceToShow(units, rounds, rate, points / 100.0) >= power; };
  int found = static_cast<int>(std::floor(rate * 100.0 + kImprobable));
  if (!is_found(found)) return std::nullopt;
  int missed = 0;
  while (found - missed > 1) {
    const int middle = (missed + found) / 2;
    (is_found(middle) ? found : missed) = middle;
  }
  return found / 100.0;
}

}  // namespace upskill
