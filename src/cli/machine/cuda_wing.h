// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sandbox/sandbox.h"

namespace upskill {

// What the program has of src/cuda. With UPSKILL_CUDA=OFF, cuda_wing_missing.cpp is compiled in place of cuda_wing.cpp
// and of what `upskill kernel` does.
bool HasCudaWing();

// Adds the wing's checks to the registry of checks.
void AddWingChecks();

// The exit code of a process that was started to run kernels; nothing if these aren't its arguments.
std::optional<int> RunAsDevice(int argc, char** argv);

// The version of PyTorch's headers that the sandbox has; empty if it has none.
std::string TorchHeadersVersion(const Sandbox& sandbox);

}  // namespace upskill
