// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace upskill {

// Holm's step-down procedure on the logarithms of e-values (or of the largest value that an e-process has reached,
// whose inverse is a p-value valid at every look). Returns which hypotheses are rejected; the probability of any false
// rejection is at most alpha, whatever their dependence. S. Holm, Scand. J. Statistics 6 (1979) 65; e-values: V. Vovk
// and R. Wang, Ann. Statistics 49 (2021) 1736.
std::vector<bool> HolmRejects(const std::vector<double>& log_e_values, double alpha);

// Holm's procedure for tests that are asked whether they reject with a given error probability; a smaller one must not
// reject more.
using RejectsAt = std::function<bool(std::size_t test, double alpha)>;
std::vector<bool> HolmRejects(std::size_t count, double alpha, const RejectsAt& rejects);

// Holm's procedure on p-values: for each, the smallest alpha with which it is rejected, if there are `count` hypotheses
// (at least as many as p-values; those that are missing count as never rejected).
std::vector<double> HolmAdjusted(const std::vector<double>& p_values, std::size_t count);

// The error probability of the next test of `count`, after `rejected` have been.
double HolmAlpha(std::size_t count, std::size_t rejected, double alpha);

// The log evidence that the next hypothesis needs to be rejected, after `rejected` of `count` have been.
double HolmThreshold(std::size_t count, std::size_t rejected, double alpha);

// The error probability of the k-th hypothesis (k = 1, 2, …) when nobody knows how many there will be, such as the
// versions of a skill that are judged on the same tests one after another. The first, often the only one, gets four
// fifths of alpha, each later one alpha/(5k(k − 1)); the sum over all k is alpha, so that the probability of any false
// rejection is at most alpha, whatever their dependence.
double CandidateAlpha(int k, double alpha);

}  // namespace upskill
