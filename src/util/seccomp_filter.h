// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace upskill {

// A system call that is refused only with certain values of an argument.
struct RefusedArgument {
  int call = 0;
  int argument = 0;                     // its position, from 0
  std::uint32_t mask = 0;               // refused if one of these bits is set
  std::span<const std::uint32_t> only;  // if there is no mask: refused unless the value is one of these
};

// What a program for seccomp(2) refuses.
struct RefusedCalls {
  std::span<const int> calls;                  // fail with EPERM
  std::span<const RefusedArgument> arguments;  // fail with EPERM
  std::span<const int> absent;                 // fail with ENOSYS, as in an older kernel, so that callers do without
};

// A program for seccomp(2) that lets all system calls pass but these, and those with the numbers of another
// architecture. Only the lower 32 bits of arguments are looked at. Empty on an architecture whose numbers it doesn't
// know.
std::vector<sock_filter> RefuseSystemCalls(const RefusedCalls& refused);

}  // namespace upskill
