// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "util/result.h"

namespace upskill {

// Writes the model `source` (a GGUF) as Q8_0 to `target`, whose folder must exist. `target` is replaced atomically once
// complete; an error leaves no file behind. The same source gives the same bytes on every machine.
Status RequantizeToQ8(const std::filesystem::path& source, const std::filesystem::path& target);

}  // namespace upskill
