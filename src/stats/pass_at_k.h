// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace upskill {

// For a case with n answers, of which c passed. Both estimates are unbiased over the choice of k of the n answers; they
// are absent if k > n or k < 1.

// Probability that at least one of k answers passes: 1 − C(n−c, k)/C(n, k). M. Chen et al., arXiv:2107.03374 (2021),
// eq. 1.
std::optional<double> PassAtK(std::int64_t n, std::int64_t c, std::int64_t k);

// pass^k, the probability that all k answers pass: C(c, k)/C(n, k). S. Yao et al., τ-bench, arXiv:2406.12045 (2024).
std::optional<double> PassAllK(std::int64_t n, std::int64_t c, std::int64_t k);

}  // namespace upskill
