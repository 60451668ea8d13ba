// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace upskill {

// What a process and all that it has started use together.
struct TreeUse {
  std::uint64_t memory_bytes = 0;  // private memory in use; neither files that are mapped nor those in memory
  std::size_t processes = 0;
};

// Looks at no more than `most` processes. Zeros where /proc doesn't name the children of processes.
TreeUse UseOfProcessTree(pid_t root, std::size_t most);

}  // namespace upskill
