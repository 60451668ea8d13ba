// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

namespace upskill {

// Bytes of memory that this process can still use: what the kernel counts as available, or less if a control group
// (a container, a Slurm job) limits it; 0 if unknown. `proc` and `cgroups`: where these file systems are mounted.
std::size_t AvailableMemory(const std::filesystem::path& proc = "/proc",
                            const std::filesystem::path& cgroups = "/sys/fs/cgroup");

}  // namespace upskill
