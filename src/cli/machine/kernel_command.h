// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/models/sandbox_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct KernelOptions {
  std::string file;                    // CUDA source with a main()
  std::vector<std::string> arguments;  // of the program
  std::string nvcc_flags;              // joined by blanks
  int schedules = 3;                   // check: runs with other orders of warps and blocks
  int threads = 0;                     // that run a kernel's blocks; 0: one for each processor
  double timeout_seconds = 120.0;      // of each run
  bool json = false;
  SandboxChoice sandbox;
  ColorMode color = ColorMode::kAuto;
};

// Compiles a CUDA program and runs it without a GPU. Exit code 1 if the program fails or, with `check`, something is
// found in its kernels; 2 if it can't be compiled or run here.
ExitCode RunKernel(const CLI::App& app, const KernelOptions& options, Env& env);

}  // namespace upskill
