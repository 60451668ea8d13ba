// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace upskill {

// Of n answers to a case c passed. Both are unbiased over the choice of k of the n answers; nothing when k > n or k
// < 1.

// Chance that at least one of k answers passes: 1 − C(n−c, k)/C(n, k). M. Chen et al., arXiv:2107.03374 (2021), eq. 1.
std::optional<double> PassAtK(std::int64_t n, std::int64_t c, std::int64_t k);

// pass^k, the chance that all of k answers pass: C(c, k)/C(n, k). S. Yao et al., τ-bench, arXiv:2406.12045 (2024).
std::optional<double> PassAllK(std::int64_t n, std::int64_t c, std::int64_t k);

// Share of the possible gain that was made: (with − without)/(1 − without). R. R. Hake, Am. J. Physics 66 (1998) 64.
// Nothing when there was nothing to gain.
std::optional<double> NormalisedGain(double without, double with);

}  // namespace upskill
