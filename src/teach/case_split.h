// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skill/suite.h"

namespace upskill {

// Which cases a skill is refined on (train) and which measure it (test). A case on which an earlier version was refined
// never becomes a test case, because the skill has its answer.

// Gives cases without a split that of the earlier case with the same input (NormalInput).
void TakeSplits(const std::vector<Case>& earlier, std::vector<Case>& cases);

// Indices of the test cases: those that are marked so and, as far as they are fewer than the fraction `holdout` of all,
// some without a mark, drawn as by HeldOut. None if every case is marked `train`.
std::vector<std::size_t> TestCases(const std::vector<Case>& cases, double holdout, std::uint64_t seed);

}  // namespace upskill
