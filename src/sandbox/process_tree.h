// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace upskill {

// What a process and all that it has started use together.
struct TreeUse {
  std::uint64_t memory_bytes = 0;  // in use, without files that are mapped
  std::size_t processes = 0;
};

// The processes that `process` has started and that are still there.
std::vector<pid_t> ChildrenOf(pid_t process);

// Looks at no more than `most` processes. Zeros where /proc doesn't name the children of processes. Memory that several
// processes share counts once (their proportional shares, PSS) if the total is above `exact_above` without that; else
// the total may be larger than what is in use.
TreeUse UseOfProcessTree(pid_t root, std::size_t most, std::uint64_t exact_above);

}  // namespace upskill
