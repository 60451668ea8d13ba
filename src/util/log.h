// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace upskill {

// The program's log: the one global. Silent until a file is set; lines then go there with a UTC time. Never to the
// terminal. Thread-safe.
void SetLogFile(const std::filesystem::path& path);  // an unwritable file leaves the log silent
void Log(std::string_view source, std::string_view message);

}  // namespace upskill
