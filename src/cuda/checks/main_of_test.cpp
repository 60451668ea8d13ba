// SPDX-License-Identifier: Apache-2.0
// The test program is its own process that runs kernels.
#include <gmock/gmock.h>

#include <string_view>

#include "cuda/checks/cuda_checks.h"
#include "cuda/device/device_process.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == upskill::kDeviceArgument) return upskill::RunDevice(argv[2]);
  upskill::AddCudaChecks();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
