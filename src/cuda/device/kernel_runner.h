// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/device/device_report.h"
#include "cuda/device/device_task.h"
#include "sandbox/sandbox.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What a program is compiled from.
struct KernelSources {
  std::map<std::string, std::string> files;  // of the workspace
  std::vector<std::string> cuda;             // those that nvcc compiles
  std::vector<std::string> flags;            // of nvcc for these, after ours: -G, -O0, -DNAME
  std::string driver;                        // code for the host with its own main(); empty: the sources have one
  bool registers = false;                    // assemble the kernels, too, to learn how many registers they need
};

struct KernelBuild {
  std::string program;                             // to run; empty if there is none
  std::string problem;                             // the compiler's, if it refuses the sources
  std::string unclear;                             // why there is no program although the sources may be right
  std::string tools;                               // nvcc 13.0.88
  std::map<std::string, std::uint32_t> registers;  // of a thread, by the name of the kernel
  double seconds = 0.0;
  bool stopped = false;
};

struct KernelRun {
  SandboxOutcome outcome;
  std::optional<DeviceReport> report;  // nothing if a limit or a signal ended the process that runs kernels
};

// Compiles CUDA programs and runs them on some device. Thread-safe.
class KernelRunner {
 public:
  KernelRunner() = default;
  virtual ~KernelRunner() = default;
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  // Why nothing can run here, and what to do; empty if it can.
  virtual std::string WhyNot() const = 0;
  virtual Result<KernelBuild> Build(const KernelSources& sources, const StopFlag* stop) const = 0;
  // `task.program` names the program's arguments alone. `time`: for the run as a whole.
  virtual Result<KernelRun> Run(const KernelBuild& build, DeviceTask task, std::chrono::milliseconds time,
                                const StopFlag* stop) const = 0;
};

// Runs the kernels' PTX on the processors of this machine, in the sandbox, which outlives it. No GPU is used.
// `stop_at`: see SandboxCommand.
std::unique_ptr<KernelRunner> MakeKernelInterpreter(const Sandbox& sandbox, int stop_at = 2);

// What to do where there is no nvcc.
inline constexpr const char* kHowToAddNvcc =
    "nvcc isn't installed where the sandbox can read it: `upskill toolchain add cuda` downloads it, --toolchain names "
    "another";

}  // namespace upskill
