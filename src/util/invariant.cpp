// SPDX-License-Identifier: Apache-2.0
#include "util/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace upskill {

void FailInvariant(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace upskill
