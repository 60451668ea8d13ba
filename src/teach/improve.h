// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "teach/generation_state.h"
#include "util/result.h"

namespace upskill {

// Measures the first candidates on the train cases, has the teacher refine the best one by the students' failures, and
// tries to leave parts of it out. If the students pass everything without a skill, it ends after the first measurement
// (GenerateOutcome::nothing_to_learn). Errors: as for RunTrial and Teacher::Ask, except unusable answers of the
// teacher, which are only told.
Status ImproveCandidates(GenerationState& state);

}  // namespace upskill
