// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/kernel_costs.h"

#include <algorithm>
#include <string_view>

#include "cuda/ptx/occupancy.h"

namespace upskill {
namespace {

// H100 SXM, from NVIDIA's data sheet and tuning guide: 3.35 TB/s; 132 multiprocessors that each start 4 instructions of
// a warp in a cycle, at 1.98 GHz.
constexpr double kBytesPerUs = 3.35e6;
constexpr double kWarpInstructionsPerUs = 132.0 * 4.0 * 1980.0;
constexpr double kSectorBytes = 32.0;
constexpr int kComputeCapability = 90;

double CountOf(const DeviceKernel& kernel, std::string_view name) {
  const auto found = kernel.counters.find(std::string(name));
  return found == kernel.counters.end() ? 0.0 : static_cast<double>(found->second);
}

}  // namespace

KernelCosts CostsOf(const DeviceKernel& kernel, std::optional<std::uint32_t> registers) {
  KernelCosts costs;
  const double moved =
      kSectorBytes * (CountOf(kernel, "global_load_sectors") + CountOf(kernel, "global_store_sectors"));
  const double asked = CountOf(kernel, "global_load_bytes") + CountOf(kernel, "global_store_bytes");
  // Threads that ask for the same bytes ask for more than is moved.
  if (moved > 0.0) costs.coalescing = std::min(1.0, asked / moved);
  const double branches = CountOf(kernel, "branches");
  if (branches > 0.0) costs.divergence = CountOf(kernel, "divergent_branches") / branches;
  const std::uint64_t launches = std::max<std::uint64_t>(kernel.launches, 1);
  costs.bank_conflicts = static_cast<std::uint64_t>(CountOf(kernel, "shared_bank_conflicts")) / launches;
  constexpr std::uint32_t kFewRegisters = 16;
  const auto occupancy = ptx::ComputeOccupancy(kComputeCapability, static_cast<std::uint32_t>(kernel.threads_per_block),
                                               registers.value_or(kFewRegisters), kernel.shared_bytes);
  if (occupancy) {
    costs.occupancy = occupancy->Share();
    costs.occupancy_limit = occupancy->limited_by;
  }
  costs.memory_us = moved / kBytesPerUs;
  costs.compute_us = CountOf(kernel, "warp_instructions") / kWarpInstructionsPerUs;
  return costs;
}

}  // namespace upskill
