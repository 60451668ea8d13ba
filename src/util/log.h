// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "util/result.h"

namespace upskill {

// The program's log, a global. Writes nothing until a file is set; then one line per entry, with a UTC time, escaped as
// for a terminal and without known secrets, to that file. Never writes to the terminal. Thread-safe.
Status SetLogFile(const std::filesystem::path& path);  // appends; error: the file can't be opened
void Log(std::string_view source, std::string_view message);

// Where entries go instead of a file. Called with a mutex held: it may not log.
using LogSink = std::function<void(std::string_view source, std::string_view message)>;
void SetLogSink(LogSink sink);

bool IsLogging();

}  // namespace upskill
