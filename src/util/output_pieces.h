// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "util/result.h"

namespace upskill {

using PieceWriter = std::function<Status(std::string_view)>;

// WriteOutputFile (util/files.h) for what is too large to be held: `produce` is called with a function that writes a
// piece. No secret may lie across two pieces. An error of `produce` leaves no file behind.
Status WriteOutputInPieces(const std::filesystem::path& path, const std::function<Status(const PieceWriter&)>& produce);

}  // namespace upskill
