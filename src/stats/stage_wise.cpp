// SPDX-License-Identifier: Apache-2.0
#include "stats/stage_wise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "stats/walk.h"

namespace upskill {
namespace {

constexpr std::int64_t kMostReach = 4000;
constexpr std::int64_t kParts = 12;  // of a change that isn't whole

bool AreWhole(const std::vector<std::vector<double>>& rounds) {
  return std::all_of(rounds.begin(), rounds.end(), [](const std::vector<double>& round) {
    return std::all_of(round.begin(), round.end(), [](double change) { return change == std::round(change); });
  });
}

// The end that was seen, and which ends are more extreme upwards. Changes and critical values are in parts of one.
class Ends {
 public:
  Ends(const std::vector<std::vector<double>>& changes, const std::vector<std::int64_t>& critical)
      : parts_(AreWhole(changes) ? 1 : kParts) {
    for (const std::vector<double>& round : changes) {
      std::vector<int>& parts = rounds_.emplace_back();
      parts.reserve(round.size());
      for (const double change : round)
        parts.push_back(static_cast<int>(std::lround(change * static_cast<double>(parts_))));
    }
    for (const std::int64_t one : critical) critical_.push_back(one * parts_);
    while (last_ < rounds_.size() && (last_ == 0 || std::abs(sum_) < critical_[last_ - 1])) {
      for (const int sum : rounds_[last_]) {
        sum_ += sum;
        reach_ += std::abs(sum);
      }
      ++last_;
    }
  }

  bool empty() const { return reach_ == 0; }
  bool too_many() const { return reach_ > kMostReach; }
  std::size_t last() const { return last_; }
  double rounds() const { return static_cast<double>(last_); }
  double reach() const { return static_cast<double>(reach_) / static_cast<double>(parts_); }

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
  std::int64_t parts_;
  std::vector<std::vector<int>> rounds_;
  std::vector<std::int64_t> critical_;
  std::size_t last_ = 0;  // rounds until the end
  std::int64_t sum_ = 0;
  std::int64_t reach_ = 0;
};

}  // namespace

std::optional<StageWiseEstimate> StageWiseLift(const std::vector<std::vector<double>>& rounds,
                                               const std::vector<std::int64_t>& critical, std::size_t units_per_round,
                                               double confidence) {
  const Ends ends(rounds, critical);
  if (ends.empty() || ends.too_many() || units_per_round < 1) return std::nullopt;
  const double units = ends.rounds() * static_cast<double>(units_per_round);
  const auto lift = [&](double up) { return (2.0 * up - 1.0) * ends.reach() / units; };
  const double tail = 0.5 * (1.0 - confidence);
  return StageWiseEstimate{
      lift(ends.Solve(0.5, 0.5)), {lift(ends.Solve(tail, 1.0)), lift(ends.Solve(1.0 - tail, 0.0))}, ends.last()};
}

}  // namespace upskill
