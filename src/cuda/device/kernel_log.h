// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device/device_report.h"
#include "cuda/ptx/launch.h"

namespace upskill {

// Collects what launches show, kernel by kernel.
class KernelLog {
 public:
  void Add(std::string_view kernel, const ptx::LaunchConfig& config, std::uint64_t shared_bytes,
           const std::vector<std::string>& precisions, const ptx::LaunchOutcome& outcome);
  std::uint64_t instructions() const { return instructions_; }  // of threads, of all launches
  // Moves what was collected into a report.
  void MoveTo(DeviceReport& report);

 private:
  void AddFindings(const ptx::LaunchOutcome& outcome);

  std::vector<DeviceKernel> kernels_;
  std::vector<DeviceFinding> findings_;
  std::uint64_t dropped_ = 0;
  bool incomplete_ = false;
  std::uint64_t instructions_ = 0;
};

// The kinds of numbers that each kernel computes with, by the types in its PTX and in that of the module's functions:
// of f64, f32, f16, bf16, tf32, fp8, int8 (of matrix instructions and dp4a).
using KernelPrecisions = std::map<std::string, std::vector<std::string>, std::less<>>;
KernelPrecisions PrecisionsIn(std::string_view ptx);

}  // namespace upskill
