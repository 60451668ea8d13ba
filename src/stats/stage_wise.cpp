// SPDX-License-Identifier: Apache-2.0
#include "stats/stage_wise.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "stats/walk.h"

namespace upskill {
namespace {

constexpr int kMostUnits = 4000;

// The end that was seen, and which ends are more extreme upwards.
class Ends {
 public:
  Ends(const std::vector<std::vector<int>>& rounds, const std::vector<std::int64_t>& critical)
      : rounds_(rounds), critical_(critical) {
    while (last_ < rounds.size() && (last_ == 0 || std::abs(sum_) < critical[last_ - 1])) {
      for (const int sum : rounds[last_]) {
        if (sum == 0) continue;
        sum_ += sum;
        reach_ += std::abs(sum);
        ++units_;
      }
      ++last_;
    }
  }

  int units() const { return units_; }
  double rounds() const { return static_cast<double>(last_); }
  double reach() const { return static_cast<double>(reach_); }

  // The probability of a more extreme end, and of this one times `share`, if each unit goes up with probability `up`.
  double Above(double up, double share) const {
    Walk walk(up);
    double above = 0.0;
    for (std::size_t i = 0; i < last_; ++i) {
      for (const int sum : rounds_[i]) {
        if (sum != 0) walk.Step(std::abs(sum));
      }
      if (i + 1 == last_) break;
      above += walk.CutFrom(critical_[i]);
      walk.CutUpTo(-critical_[i]);
    }
    return above + (1.0 - share) * walk.MassFrom(sum_ + 1) + share * walk.MassFrom(sum_);
  }

  // The probability of going up for which Above is `target`; it grows with it.
  double Solve(double target, double share) const {
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < 24; ++i) {
      const double middle = 0.5 * (low + high);
      (Above(middle, share) < target ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

 private:
  const std::vector<std::vector<int>>& rounds_;
  const std::vector<std::int64_t>& critical_;
  std::size_t last_ = 0;  // rounds until the end
  std::int64_t sum_ = 0;
  std::int64_t reach_ = 0;
  int units_ = 0;
};

}  // namespace

std::optional<StageWiseEstimate> StageWiseLift(const std::vector<std::vector<int>>& rounds,
                                               const std::vector<std::int64_t>& critical, int pairs_per_round,
                                               double confidence) {
  const Ends ends(rounds, critical);
  if (ends.units() == 0 || ends.units() > kMostUnits || pairs_per_round < 1) return std::nullopt;
  const double pairs = ends.rounds() * pairs_per_round;
  const auto lift = [&](double up) { return (2.0 * up - 1.0) * ends.reach() / pairs; };
  const double tail = 0.5 * (1.0 - confidence);
  return StageWiseEstimate{lift(ends.Solve(0.5, 0.5)),
                           {lift(ends.Solve(tail, 1.0)), lift(ends.Solve(1.0 - tail, 0.0))}};
}

}  // namespace upskill
