// SPDX-License-Identifier: Apache-2.0
#include "stats/sign_flip_sequence.h"

#include <algorithm>
#include <cmath>

namespace upskill {
namespace {

constexpr double kRounding = 1e-12;    // relative, of sums of probabilities
constexpr double kSumRounding = 1e-6;  // of sums of thirds and the like
constexpr double kSmallestP = 1e-12;
constexpr double kStepOfP = 1.001;
constexpr int kSmallPower = 2304;  // from here on, the steps are those of p-values up to 0.1
constexpr int kCoarseSteps = 20;

}  // namespace

SignFlipSequence::SignFlipSequence(double alpha, const SpendingSchedule& schedule)
    : alpha_(alpha), schedule_(schedule) {}

void SignFlipSequence::AddRound(const std::vector<double>& changes) {
  std::int64_t differing = 0;
  for (const double change : changes) {
    sum_ += change;
    differing += change == 0.0 ? 0 : 1;
  }
  reach_ += differing;
  rejected_ += walk_.UnitSteps(differing);
  const double allowed = alpha_ * schedule_.Until(rounds() + 1) * (1.0 + kRounding);
  rejected_ += walk_.CutTopWithin(allowed - rejected_);
  critical_.push_back(walk_.end());
  const double least = static_cast<double>(critical_.back()) - kSumRounding;
  if (helps_round_ == 0 && sum_ >= least) helps_round_ = rounds();
  if (hurts_round_ == 0 && -sum_ >= least) hurts_round_ = rounds();
}

SequentialPValues SequentialPValuesOf(const std::vector<std::vector<double>>& rounds,
                                      const SpendingSchedule& schedule) {
  const int steps = static_cast<int>(std::ceil(-std::log(kSmallestP) / std::log(kStepOfP)));
  // Searches the smallest power of 1/kStepOfP with which the test rejects.
  const auto search = [&](bool helps) {
    const auto rejects = [&](int power) {
      SignFlipSequence sequence(std::pow(kStepOfP, -power), schedule);
      for (const std::vector<double>& changes : rounds) {
        sequence.AddRound(changes);
        if ((helps ? sequence.helps_round() : sequence.hurts_round()) > 0) return true;
      }
      return false;
    };
    if (!rejects(0)) return 1.0;
    int low = 0;
    int high = steps;
    while (high - low > (high < kSmallPower ? kCoarseSteps : 1)) {
      const int middle = (low + high) / 2;
      (rejects(middle) ? low : high) = middle;
    }
    return std::max(kSmallestP, std::pow(kStepOfP, -low));
  };
  return {search(true), search(false)};
}

}  // namespace upskill
