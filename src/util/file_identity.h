// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace upskill {

// A text that is equal as long as a file hasn't been written, replaced or moved to another machine: its device, number,
// size, and the times of its last change. The latter is set by the system alone, so that what is remembered of a file
// can't be made up for it in an archive.
//
// Nothing: there is no such file, or it was written less than two seconds before `now`, so that another write might not
// show.
std::optional<std::string> FileIdentity(const std::filesystem::path& path, std::chrono::system_clock::time_point now);

}  // namespace upskill
