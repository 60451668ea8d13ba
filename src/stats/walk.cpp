// SPDX-License-Identifier: Apache-2.0
#include "stats/walk.h"

#include <algorithm>

namespace upskill {
namespace {

constexpr double kNegligibleMass = 1e-18;

}  // namespace

Walk::Walk(double up, std::int64_t start) : up_(up), low_(start), mass_{1.0} {
  ups_[0] = 1.0;
  for (std::size_t steps = 1; steps <= kBlock; ++steps) {
    for (std::size_t ups = steps; ups > 0; --ups) ups_[ups] = (1.0 - up) * ups_[ups] + up * ups_[ups - 1];
    ups_[0] *= 1.0 - up;
  }
}

void Walk::Step(int length) {
  const std::size_t size = mass_.size();
  const auto step = static_cast<std::size_t>(length);
  low_ -= length;
  if (step == 0 || size == 0) return;
  const double down = 1.0 - up_;
  next_.resize(size + step);
  for (std::size_t i = 0; i < std::min(step, size); ++i) next_[i] = down * mass_[i];
  for (std::size_t i = size; i < step; ++i) next_[i] = 0.0;
  for (std::size_t i = step; i < size; ++i) next_[i] = down * mass_[i] + up_ * mass_[i - step];
  for (std::size_t i = std::max(step, size); i < size + step; ++i) next_[i] = up_ * mass_[i - step];
  mass_.swap(next_);
}

double Walk::UnitSteps(std::int64_t count) {
  double negligible = 0.0;
  for (; count >= static_cast<std::int64_t>(kBlock); count -= static_cast<std::int64_t>(kBlock)) {
    BlockOfUnitSteps();
    negligible += CutNegligible();
  }
  for (; count > 0; --count) {
    Step(1);
    negligible += CutNegligible();
  }
  return negligible;
}

void Walk::BlockOfUnitSteps() {
  const std::size_t size = mass_.size();
  low_ -= static_cast<std::int64_t>(kBlock);
  if (size == 0) return;
  next_.resize(size + kBlock);
  const auto among = [&](std::size_t i, std::size_t first_ups, std::size_t last_ups) {
    double sum = 0.0;
    for (std::size_t ups = first_ups; ups <= last_ups; ++ups) sum += ups_[ups] * mass_[i - ups];
    return sum;
  };
  const std::size_t inner = std::min(size, kBlock);
  for (std::size_t i = 0; i < inner; ++i) next_[i] = among(i, 0, i);
  for (std::size_t i = size; i < kBlock; ++i) next_[i] = among(i, i + 1 - size, i);
  // Compilers turn these into operations on vectors.
  const double* const mass = mass_.data();
  double* const next = next_.data();
  const std::array<double, kBlock + 1> ups = ups_;
  for (std::size_t i = kBlock; i < size; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j <= kBlock; ++j) sum += ups[j] * mass[i - j];
    next[i] = sum;
  }
  for (std::size_t i = std::max(size, kBlock); i < size + kBlock; ++i) next_[i] = among(i, i + 1 - size, kBlock);
  mass_.swap(next_);
}

std::size_t Walk::IndexFrom(std::int64_t sum) const {
  if (sum <= low_) return 0;
  return std::min(mass_.size(), static_cast<std::size_t>((sum - low_ + 1) / 2));
}

double Walk::MassFrom(std::int64_t sum) const {
  double mass = 0.0;
  for (std::size_t i = mass_.size(), from = IndexFrom(sum); i > from; --i) mass += mass_[i - 1];
  return mass;
}

double Walk::CutFrom(std::int64_t sum) {
  const double mass = MassFrom(sum);
  mass_.resize(IndexFrom(sum));
  return mass;
}

double Walk::CutUpTo(std::int64_t sum) {
  const std::size_t count = IndexFrom(sum + 1);
  double mass = 0.0;
  for (std::size_t i = 0; i < count; ++i) mass += mass_[i];
  mass_.erase(mass_.begin(), mass_.begin() + static_cast<std::ptrdiff_t>(count));
  low_ += 2 * static_cast<std::int64_t>(count);
  return mass;
}

double Walk::CutTopWithin(double budget) {
  double mass = 0.0;
  while (!mass_.empty() && mass + mass_.back() <= budget) {
    mass += mass_.back();
    mass_.pop_back();
  }
  return mass;
}

double Walk::CutNegligible() {
  double mass = 0.0;
  std::size_t count = 0;
  while (count < mass_.size() && mass + mass_[count] < kNegligibleMass) mass += mass_[count++];
  mass_.erase(mass_.begin(), mass_.begin() + static_cast<std::ptrdiff_t>(count));
  low_ += 2 * static_cast<std::int64_t>(count);
  return mass;
}

}  // namespace upskill
