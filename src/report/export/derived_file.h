// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// Writes a file below `folder` that can be made again from a run's journal, with the folders it needs: readers see it
// whole or not at all, but it isn't waited for until it is on the disk (a run may have thousands).
Status WriteDerivedFile(const Folder& folder, const std::filesystem::path& name, std::string_view content);

}  // namespace upskill
