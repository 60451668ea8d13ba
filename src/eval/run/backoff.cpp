// SPDX-License-Identifier: Apache-2.0
#include "eval/run/backoff.h"

#include <algorithm>

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackoff{500};
constexpr milliseconds kLongestBackoff{8000};
constexpr milliseconds kLongestRetryAfter{120'000};

}  // namespace

milliseconds Backoff(int attempt, const Error& error) {
  if (error.retry_after && *error.retry_after <= kLongestRetryAfter) return *error.retry_after;
  return std::min(kFirstBackoff * (1 << std::min(attempt, 10)), kLongestBackoff);
}

}  // namespace upskill
