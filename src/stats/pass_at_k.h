// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stats/interval.h"

namespace upskill {

// For a case with n answers, of which c passed. Both estimates are unbiased over the choice of k of the n answers; they
// are absent if k > n or k < 1.

// Probability that at least one of k answers passes: 1 − C(n−c, k)/C(n, k). M. Chen et al., arXiv:2107.03374 (2021),
// eq. 1.
std::optional<double> PassAtK(std::int64_t n, std::int64_t c, std::int64_t k);

// pass^k, the probability that all k answers pass: C(c, k)/C(n, k). S. Yao et al., τ-bench, arXiv:2406.12045 (2024).
std::optional<double> PassAllK(std::int64_t n, std::int64_t c, std::int64_t k);

// The answers of one case.
struct CaseAnswers {
  std::int64_t answered = 0;
  std::int64_t passed = 0;
};

// The mean of an estimate over cases, with its 95 % interval for new cases like these.
struct CaseMean {
  double mean = 0.0;
  std::optional<Interval> interval;  // absent with fewer than kFewestCasesForNew cases
};

// Nothing without cases, or if a case has fewer than k answers. The cases are the sample: BoundedMeanInterval of
// their estimates, for any distribution of these, and MeanInterval from 200 cases on.
std::optional<CaseMean> MeanPassAtK(const std::vector<CaseAnswers>& cases, std::int64_t k);
std::optional<CaseMean> MeanPassAllK(const std::vector<CaseAnswers>& cases, std::int64_t k);

}  // namespace upskill
