// SPDX-License-Identifier: Apache-2.0
#include "util/memory.h"

#include <gtest/gtest.h>

#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

constexpr std::size_t kMegabyte = 1024 * 1024;

class Memory : public testing::Test {
 protected:
  void SetGroup(const std::string& lines) { folder.Write("proc/self/cgroup", lines); }
  void Write(const std::string& file, std::size_t megabytes) {
    folder.Write("cgroup/" + file, std::to_string(megabytes * kMegabyte) + "\n");
  }
  std::size_t AvailableMegabytes() {
    return AvailableMemory(folder.path() / "proc", folder.path() / "cgroup") / kMegabyte;
  }

  TempFolder folder;
  const std::filesystem::path meminfo =
      folder.Write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
};

TEST_F(Memory, IsWhatTheKernelCountsWithoutALimit) {
  EXPECT_EQ(AvailableMegabytes(), 8192U);
  SetGroup("0::/user.slice/x\n");
  folder.Write("cgroup/user.slice/x/memory.max", "max\n");
  EXPECT_EQ(AvailableMegabytes(), 8192U);
}

TEST_F(Memory, TheContainersLimitCounts) {
  SetGroup("0::/\n");
  Write("memory.max", 1024);
  EXPECT_EQ(AvailableMegabytes(), 1024U);
  Write("memory.current", 600);
  folder.Write("cgroup/memory.stat", "anon 1\ninactive_file " + std::to_string(200 * kMegabyte) + "\nactive_file 5\n");
  EXPECT_EQ(AvailableMegabytes(), 624U) << "cached files are dropped when memory is needed";
  Write("memory.current", 2000);
  EXPECT_EQ(AvailableMegabytes(), 0U);
}

TEST_F(Memory, TheLimitsOfAllGroupsAboveCount) {
  SetGroup("0::/slurm/job_7/step_0\n");
  folder.Write("cgroup/slurm/job_7/step_0/memory.max", "max\n");
  Write("slurm/job_7/memory.max", 3000);
  Write("slurm/job_7/memory.current", 1000);
  Write("slurm/memory.max", 5000);
  EXPECT_EQ(AvailableMegabytes(), 2000U);
}

TEST_F(Memory, LimitsOfVersion1Count) {
  SetGroup("4:cpu,cpuacct:/docker/4f\n3:memory:/docker/4f\n0::/\n");
  Write("memory/memory.limit_in_bytes", 512);  // a container sees its own group at the root
  Write("memory/memory.usage_in_bytes", 100);
  EXPECT_EQ(AvailableMegabytes(), 412U);
  Write("memory/docker/4f/memory.limit_in_bytes", 256);
  EXPECT_EQ(AvailableMegabytes(), 256U);
  folder.Write("cgroup/memory/docker/4f/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  EXPECT_EQ(AvailableMegabytes(), 412U);
}

TEST_F(Memory, BrokenFilesAreIgnored) {
  SetGroup("nonsense\n0:\n0::/../../etc\n0::/x\n");
  folder.Write("cgroup/x/memory.max", "-1 of them");
  folder.Write("cgroup/memory.max", "");
  EXPECT_EQ(AvailableMegabytes(), 8192U);
  EXPECT_EQ(AvailableMemory(folder.path() / "no", folder.path() / "no"), 0U);
}

}  // namespace
}  // namespace upskill
