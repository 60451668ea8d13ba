// SPDX-License-Identifier: Apache-2.0
// The test program is its own process that runs kernels.
#include <gmock/gmock.h>

#include <optional>

#include "cli/machine/cuda_wing.h"

int main(int argc, char** argv) {
  if (const std::optional<int> code = upskill::RunAsDevice(argc, argv)) return *code;
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
