// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with PTX, which a program hands to the process that runs its kernels.

void FuzzPtx(std::string_view input);        // reads it
void FuzzPtxRun(std::string_view input);     // runs its kernels within small budgets, on one thread and on three
                                             // the first line may be "// launch BLOCKS THREADS SEED [cooperative]"
void FuzzTensorMap(std::string_view input);  // a tensor map in memory, then five coordinates of a box

}  // namespace upskill
