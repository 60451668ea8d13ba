// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// A check that compiles the binding of a kernel to PyTorch with PyTorch's own headers and CUDA's, in the sandbox: the
// `file`, else all files that end in .cpp, else the only fenced block. kernel-builder's registration.h is put beside
// each source. It passes if each compiles and one of them registers operators (TORCH_LIBRARY…). Nothing is linked or
// run. It is skipped where nvcc or the headers are missing. No errors.
Result<std::unique_ptr<Check>> MakeCudaBindings(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
