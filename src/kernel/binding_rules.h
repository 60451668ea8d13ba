// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// How kernel-builder wants a [torch] project to register its functions: no pybind11, names that the build chooses
// (TORCH_LIBRARY_EXPAND, REGISTER_EXTENSION), a schema for each operator that fits its C++ function, and an
// implementation that exists, for each backend; and Python calls no other operators, with the arguments of the schema.
void AddBindingProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                        ProblemList& problems);

}  // namespace upskill
