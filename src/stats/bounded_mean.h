// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace upskill {

// One-sided p-value of "the mean of the population is at most `mean`" for independent values in [−1, 1], whatever their
// distribution: the probability that a random weighting of the values, and of one more value of −1, has a mean of at
// most `mean`. The weights are uniform over all that add up to 1 (a Bayesian bootstrap with the worst possible extra
// value). N. Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
// variable", Mathematical Methods of Statistics 14 (2005) 451. n equal values of a give (1 + a)^−n for mean 0, which no
// valid test can beat: cases that gain a with probability 1/(1 + a) and otherwise lose 1 would show the same.
//
// 1 without values. The absolute error is below 1e-12.
double BoundedMeanTest(const std::vector<double>& values, double mean = 0.0);

// From so many values on, the test takes long and isn't needed: their mean is close to normal.
inline constexpr std::size_t kManyForBoundedMean = 200;

}  // namespace upskill
