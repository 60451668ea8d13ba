// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// Opens the folder of runs. One that it has to make gets a .gitignore, so that `git add -A` doesn't commit runs.
Result<Folder> MakeRunsFolder(const std::filesystem::path& path);

}  // namespace upskill
