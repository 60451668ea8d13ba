// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// Sends llama.cpp's messages to our log instead of the terminal, for the rest of the process. Idempotent.
void CaptureLibraryLog();

// Returns and clears the first error that llama.cpp has reported since the previous call; empty if there is none.
// Thread-safe.
std::string TakeLibraryError();

}  // namespace upskill
