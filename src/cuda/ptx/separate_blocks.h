// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/ptx/program.h"

namespace upskill::ptx {

// Whether the text of the kernel, and of the functions that it may call, rules out that its blocks tell each other
// anything in a way that isn't a race, or learn what has run before them: no atomics, volatile accesses and the like
// on memory that blocks share, no clocks, no printf, nothing of clusters.
bool HasSeparateBlocks(const Program& program, const Function& kernel);

}  // namespace upskill::ptx
