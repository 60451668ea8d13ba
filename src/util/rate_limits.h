// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace upskill {

// Requests that servers have refused for now (HTTP 429 and the like), and that are sent again without being counted as
// failed.
struct RateLimits {
  std::size_t times = 0;
  std::string host;               // with its port, of the last one
  double next_try_seconds = 0.0;  // until a server is asked again; 0: one can be asked now
};

}  // namespace upskill
