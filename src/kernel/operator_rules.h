// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// The operators that a project registers: each schema is one, each has an implementation and each implementation a
// schema that its C++ function fits; the function exists, in a file that is compiled; each backend with kernels has
// implementations for its device.
void AddOperatorProblems(const BuildToml& build, const ProjectCode& code, ProblemList& problems);

}  // namespace upskill
