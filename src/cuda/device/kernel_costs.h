// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/device/device_report.h"

namespace upskill {

// What the counters of a kernel say about its speed on an H100. Estimates: nothing was run there.
struct KernelCosts {
  std::optional<double> coalescing;  // bytes asked for, of those in the sectors moved; nothing without access
  double divergence = 0.0;           // share of the branches that parted a warp
  std::uint64_t bank_conflicts = 0;  // of shared memory, per launch
  std::optional<double> occupancy;   // warps on a multiprocessor, of the most it holds
  std::string occupancy_limit;       // registers, shared memory, warps, blocks
  double memory_us = 0.0;            // at the bandwidth of the memory, all launches together
  double compute_us = 0.0;           // at the rate of instructions
};

// `registers`: of a thread, if known; without it, occupancy is computed without regard to registers.
KernelCosts CostsOf(const DeviceKernel& kernel, std::optional<std::uint32_t> registers);

}  // namespace upskill
