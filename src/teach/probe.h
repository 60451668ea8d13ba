// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "teach/generation_state.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::size_t kProbeCases = 4;
inline constexpr int kProbeRounds = 2;  // at most: the second is only for students that failed the whole first

inline constexpr std::size_t kKnownRounds = 2;

// Has every student answer the cases without a skill. Returns the indices of those that all answers pass, which can't
// show what a skill adds. Errors: as for RunTrial.
Result<std::vector<std::size_t>> PassedWithoutSkill(GenerationState& state, const std::vector<std::size_t>& cases);

// Before anything is spent on trials, has every student answer a few tests with their reference answers in place of the
// skill: the shortest ones, of the train cases if there are any. A student that passes none of them can't use any
// skill. Such students are taken out of `state.trials` and added to `state.out.too_small`. A student that passes one
// answer in two is taken out wrongly in 0.4 % of generations with four such tests, one that passes one in four in 10 %.
// Without tests that have a reference short enough for a small model's context, nothing is asked. Errors: as for
// RunTrial.
Status ProbeStudents(GenerationState& state);

}  // namespace upskill
