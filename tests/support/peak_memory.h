// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>

namespace upskill {

// For tests: peak memory of this process so far, in bytes.
inline std::size_t PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

// The growth of the peak memory while `work` runs, in a separate process.
inline std::size_t PeakGrowth(const std::function<bool()>& work) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::size_t before = PeakBytes();
    std::size_t growth = work() ? PeakBytes() - before : ~std::size_t{0};
    const ssize_t written = ::write(ends[1], &growth, sizeof growth);
    ::_exit(written == sizeof growth ? 0 : 1);
  }
  ::close(ends[1]);
  std::size_t growth = ~std::size_t{0};
  EXPECT_EQ(::read(ends[0], &growth, sizeof growth), static_cast<ssize_t>(sizeof growth));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return growth;
}

}  // namespace upskill
