// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/plan.h"
#include "eval/sample.h"

namespace upskill {

// A small run that the fuzzers of its files start from: two cases, two arms, three rounds, and a sample of it.
Plan OnePlan();
Sample OneSample();

}  // namespace upskill
