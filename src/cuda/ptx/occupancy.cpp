// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace upskill::ptx {

// The limits are those of the CUDA programming guide's table of technical specifications.
Result<Occupancy> ComputeOccupancy(int compute_capability, std::uint32_t threads_per_block,
                                   std::uint32_t registers_per_thread, std::uint64_t shared_bytes) {
  if (compute_capability != 80 && compute_capability != 90) {
    return InputError(fmt::format("the occupancy of sm_{} isn't known; expected 80 or 90", compute_capability));
  }
  if (threads_per_block == 0 || threads_per_block > 1024 || registers_per_thread > 255) {
    return InputError("a block has 1 to 1024 threads of at most 255 registers");
  }
  constexpr std::uint32_t kMaxWarps = 64;
  constexpr std::uint32_t kMaxBlocks = 32;
  constexpr std::uint32_t kRegisters = 65'536;
  const std::uint64_t shared_per_multiprocessor = compute_capability == 80 ? 164U << 10U : 228U << 10U;
  const std::uint32_t warps = (threads_per_block + 31) / 32;
  // Registers are given out by warp, in units of 256; shared memory in units of 128 bytes, with 1 KiB for the system.
  const std::uint32_t registers = (std::max(registers_per_thread, 1U) * 32 + 255) / 256 * 256 * ((warps + 3) / 4 * 4);
  const std::uint64_t shared = (shared_bytes + 1024 + 127) / 128 * 128;
  const std::array<std::pair<std::uint64_t, const char*>, 4> limits = {{
      {kMaxWarps / warps, "warps"},
      {kMaxBlocks, "blocks"},
      {kRegisters / registers, "registers"},
      {shared_per_multiprocessor / shared, "shared memory"},
  }};
  const auto* const least =
      std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Occupancy occupancy;
  occupancy.blocks = static_cast<std::uint32_t>(least->first);
  occupancy.warps = occupancy.blocks * warps;
  occupancy.max_warps = kMaxWarps;
  occupancy.limited_by = least->second;
  return occupancy;
}

}  // namespace upskill::ptx
