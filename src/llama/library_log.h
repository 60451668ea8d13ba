// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// Sends llama.cpp's own messages to our log instead of the terminal, for the rest of the process. Idempotent.
void CaptureLibraryLog();

// The last error that llama.cpp reported since the previous call, on one line; empty if there was none. Thread-safe.
std::string TakeLibraryError();

}  // namespace upskill
