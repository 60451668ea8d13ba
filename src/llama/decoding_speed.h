// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include "llama/life_signs.h"

namespace upskill {

// Tokens a second that the model generates when `sequences` answers are under way: two batches with a token for each
// are evaluated, and the second is timed. Long texts before the tokens make real answers slower. 0 if it can't be
// measured, for want of memory for example. `life` may be null. Takes as long as two such batches.
double MeasureDecodingSpeed(llama_model* model, int sequences, int threads, LifeSigns* life);

}  // namespace upskill
