// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Prints `file:line: broken invariant: expression` to stderr and aborts.
[[noreturn]] void FailInvariant(const char* expression, const char* file, int line);

}  // namespace upskill

// A condition that only a bug in this program can violate. Always checked; never used on input.
#define CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::upskill::FailInvariant(#condition, __FILE__, __LINE__))
