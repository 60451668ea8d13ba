// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/ptx/program.h"

namespace upskill::ptx {

// Sets Program::priority of a function's instructions so that the parts of a diverged warp meet again as early as
// possible if the part with the least priority always runs first: a block comes before its successors, and all of a
// loop before what follows the loop (Bourdoncle's weak topological order, FMPA 1993).
void OrderBlocks(Program& program, const Function& function);

}  // namespace upskill::ptx
