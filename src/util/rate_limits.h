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

// The rate limits of two clients: the host and the time of the one that waits longer.
inline RateLimits Together(const RateLimits& a, const RateLimits& b) {
  if (a.times == 0 || b.times == 0) return a.times == 0 ? b : a;
  const RateLimits& longer = a.next_try_seconds < b.next_try_seconds ? b : a;
  return {a.times + b.times, longer.host, longer.next_try_seconds};
}

}  // namespace upskill
