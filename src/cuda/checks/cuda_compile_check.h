// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "cuda/checks/compiler_check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

inline constexpr SourceChoice kCudaSources = {"CUDA source", ".cu", "answer.cu", "cuda cu cpp c++", "__global__"};

// A check that compiles CUDA sources of the answer with nvcc, in the sandbox, for `arch` (sm_90): the `file`, else all
// files that end in .cu, else the only fenced block. It passes if each compiles for device and host, and together
// they fulfil the conditions: instructions that the PTX `uses` and `not_uses` (UsesInstruction), `max_registers` of a
// thread, `spills` in bytes, `max_shared_bytes`, `min_shared_alignment`. It is skipped where there is no nvcc, and for
// a source that includes PyTorch's headers where there are none. Errors: an option of the wrong type, an architecture
// that isn't named like one.
Result<std::unique_ptr<Check>> MakeCudaCompile(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
