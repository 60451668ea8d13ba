// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "check/check_makers.h"
#include "cli/machine/cuda_wing.h"
#include "cli/machine/kernel_command.h"

namespace upskill {

bool HasCudaWing() { return false; }

void AddWingChecks() {}

std::optional<int> RunAsDevice(int /*argc*/, char** /*argv*/) { return std::nullopt; }

std::string TorchHeadersVersion(const Sandbox& /*sandbox*/) { return ""; }

ExitCode RunKernel(const CLI::App& /*app*/, const KernelOptions& /*options*/, Env& env) {
  return PrintError(env, InputError(kWingMissing));
}

}  // namespace upskill
