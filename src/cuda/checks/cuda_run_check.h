// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// A check that runs the kernels of the answer and compares what they compute with a reference (docs/suites.md): nvcc
// compiles the answer, a program of ours calls its `function` with fresh buffers of several `sizes`, and the kernels'
// PTX is run by a process that the answer can't reach. Without a `function`, the answer is a program of its own. It
// fails on wrong results, on what the process finds in the kernels (races, accesses outside of buffers, …), and on
// ways of having no kernel compute the results. It is skipped where there is no nvcc or no sandbox, and for what can't
// be run without a GPU. Errors: an option of the wrong type, names that nothing defines.
Result<std::unique_ptr<Check>> MakeCudaRun(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
