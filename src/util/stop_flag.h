// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace upskill {

// How the user or a signal handler stops work early. 0: continue; 1: finish what is in flight; 2 or more: cancel that
// too.
using StopFlag = std::atomic<int>;

}  // namespace upskill
