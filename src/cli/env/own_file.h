// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "util/result.h"

namespace upskill {

// The text of a file with secrets of the user, or nothing if there is none. It is opened once, so that what is checked
// is what is read. Errors: a link or no regular file, another user's, changeable by others, larger than `max_bytes`.
Result<std::optional<std::string>> ReadOwnFile(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace upskill
