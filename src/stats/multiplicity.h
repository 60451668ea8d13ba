// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace upskill {

// Holm's step-down procedure on the logarithms of e-values (or of the largest value that an e-process has reached,
// whose inverse is a p-value valid at every look). Returns which hypotheses are rejected; the probability of any false
// rejection is at most alpha, whatever their dependence. S. Holm, Scand. J. Statistics 6 (1979) 65; e-values: V. Vovk
// and R. Wang, Ann. Statistics 49 (2021) 1736.
std::vector<bool> HolmRejects(const std::vector<double>& log_e_values, double alpha);

// The log evidence that the next hypothesis needs to be rejected, after `rejected` of `count` have been.
double HolmThreshold(std::size_t count, std::size_t rejected, double alpha);

// The error probability allotted to candidate k = 1, 2, … of a refinement, α/(k(k+1)); the sum over all k is α.
double CandidateAlpha(int k, double alpha);

}  // namespace upskill
