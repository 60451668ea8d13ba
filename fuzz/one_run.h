// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"

namespace upskill {

// A small run that the fuzzers of its files start from: two cases, two arms, three rounds, and a sample of it.
Plan OnePlan();
Sample OneSample();

}  // namespace upskill
