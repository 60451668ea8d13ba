// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/device/device_report.h"
#include "cuda/ptx/launch.h"

namespace upskill {

// Collects what launches show, kernel by kernel.
class KernelLog {
 public:
  // `repeated`: the outcome is that of an earlier launch.
  void Add(std::string_view kernel, const ptx::LaunchConfig& config, std::uint64_t shared_bytes,
           const ptx::LaunchOutcome& outcome, bool repeated);
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

}  // namespace upskill
