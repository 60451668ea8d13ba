// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "util/result.h"

namespace upskill {

// Attempts at a request before it is abandoned.
inline constexpr int kMaxAttempts = 4;

// How long to wait after a failed attempt (0: the first): as the server says within reason, else longer each time.
std::chrono::milliseconds Backoff(int attempt, const Error& error);

}  // namespace upskill
