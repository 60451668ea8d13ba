// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace upskill {

// The distribution of a sum of independent signed steps, less the mass that has been cut off. The steps' lengths are
// whole numbers; each goes up with the same probability.
class Walk {
 public:
  explicit Walk(double up = 0.5, std::int64_t start = 0);

  void Step(int length);
  // So many steps of length 1, at a fraction of the time of single ones. Returns the negligible mass that was cut off.
  double UnitSteps(std::int64_t count);

  // Cut off a tail and return its mass.
  double CutFrom(std::int64_t sum);    // this sum and higher ones
  double CutUpTo(std::int64_t sum);    // this sum and lower ones
  double CutTopWithin(double budget);  // the highest sums, as many as have at most this mass together
  double CutNegligible();              // what is left of the lower tail in a double

  double MassFrom(std::int64_t sum) const;
  // The lowest sum above all that are left; above the start if none are.
  std::int64_t end() const { return low_ + 2 * static_cast<std::int64_t>(mass_.size()); }

 private:
  static constexpr std::size_t kBlock = 8;  // steps taken together

  void BlockOfUnitSteps();
  std::size_t IndexFrom(std::int64_t sum) const;  // of the lowest sum that is at least this

  double up_;
  std::array<double, kBlock + 1> ups_{};  // the probability of each number of ups in a block
  std::int64_t low_;                      // sum of mass_[0]; each index adds 2
  std::vector<double> mass_;              // by sum
  std::vector<double> next_;              // scratch
};

}  // namespace upskill
