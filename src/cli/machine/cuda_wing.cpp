// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/cuda_wing.h"

#include <string_view>

#include "cuda/checks/cuda_checks.h"
#include "cuda/checks/torch_headers.h"
#include "cuda/device/device_process.h"

namespace upskill {

bool HasCudaWing() { return true; }

void AddWingChecks() { AddCudaChecks(); }

std::optional<int> RunAsDevice(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != kDeviceArgument) return std::nullopt;
  return RunDevice(argv[2]);
}

std::string TorchHeadersVersion(const Sandbox& sandbox) {
  const std::optional<TorchHeaders> torch = FindTorchHeaders(sandbox);
  return torch ? torch->version : "";
}

}  // namespace upskill
