// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace upskill {

// Holm's step-down rule on the logarithms of e-values (or of the largest value that an e-process has reached: its
// inverse is a p-value that holds at every look): which hypotheses are rejected so that the chance of any false
// rejection is at most alpha, however they depend on each other. S. Holm, Scand. J. Statistics 6 (1979) 65; e-values:
// V. Vovk and R. Wang, Ann. Statistics 49 (2021) 1736.
std::vector<bool> HolmRejects(const std::vector<double>& log_e_values, double alpha);

// The log evidence that a hypothesis not yet rejected needs next, when `rejected` of `count` are.
double HolmThreshold(std::size_t count, std::size_t rejected, double alpha);

// What candidate k = 1, 2, … of a refinement may spend: α/(k(k+1)); all together spend α, however many follow.
double CandidateAlpha(int k, double alpha);

}  // namespace upskill
