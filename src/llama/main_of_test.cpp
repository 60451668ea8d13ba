// SPDX-License-Identifier: Apache-2.0
// The test program is its own worker program: WorkerOptions::program is /proc/self/exe.
#include <gmock/gmock.h>

#include <string_view>

#include "llama/worker.h"
#include "llama/worker_process.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == upskill::kWorkerArgument) return upskill::RunEngineWorker(argv[2]);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
