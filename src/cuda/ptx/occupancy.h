// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "util/result.h"

namespace upskill::ptx {

// How many blocks of a kernel one multiprocessor holds, and what limits them.
struct Occupancy {
  std::uint32_t blocks = 0;
  std::uint32_t warps = 0;
  std::uint32_t max_warps = 0;
  std::string limited_by;  // "registers", "shared memory", "warps" or "blocks"
  double Share() const { return max_warps == 0 ? 0.0 : static_cast<double>(warps) / max_warps; }
};

// `compute_capability`: 80 or 90. `shared_bytes` is static and dynamic together.
Result<Occupancy> ComputeOccupancy(int compute_capability, std::uint32_t threads_per_block,
                                   std::uint32_t registers_per_thread, std::uint64_t shared_bytes);

}  // namespace upskill::ptx
