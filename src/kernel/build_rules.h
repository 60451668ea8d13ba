// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"

namespace upskill {

// What kernel-builder's parser accepts and its build then refuses: capabilities that it has no code for, kernels of
// backends that aren't listed, no backends at all, Python packages that it doesn't know.
void AddBuildProblems(const BuildToml& build, const std::string& file, ProblemList& problems);

// Whether the project has code for the CUDA capability ("9.0", "9.0a"): in one of its CUDA kernels, or as a project
// without compiled code that is for CUDA. A kernel without cuda-capabilities is built for all that the builder
// supports.
bool BuildsForCapability(const BuildToml& build, std::string_view capability);

bool HasBackend(const BuildToml& build, std::string_view backend);

// The capabilities that the project's CUDA kernels list, for messages; empty if they list none.
std::vector<std::string> ListedCapabilities(const BuildToml& build);

}  // namespace upskill
