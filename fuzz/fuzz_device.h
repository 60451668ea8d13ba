// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with what a CUDA program hands to the process that runs its kernels.

void FuzzFatBinary(std::string_view input);

}  // namespace upskill
