// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// The files of a project against the lists in its build.toml: each `src` exists and suits the kernel's backend, each
// header that is included is listed, and so is each file with a function that the listed ones use.
void AddSourceProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                       ProblemList& problems);

// The folder for the Python package: torch-ext/my_kernel.
std::string PackageFolder(const BuildToml& build);

// The Python package is where the name of the kernel says, and nothing is written by hand that the build generates.
void AddLayoutProblems(const BuildToml& build, const KernelFiles& files, ProblemList& problems);

}  // namespace upskill
