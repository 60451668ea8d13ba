// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Parses the text of a JSON file. Its error shows the line only if no symbolic link leads to the file: who made a link
// decides what file is behind it, perhaps one with a key. With `folder`, which the user has named, only the path below
// it counts.
Result<Json> ParseJsonFile(std::string_view text, const std::filesystem::path& file,
                           const std::filesystem::path& folder = {});

}  // namespace upskill
