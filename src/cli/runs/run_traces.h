// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// The folder of the run that `from` names: a run's folder, or, where there is no such file, a run of the runs folder.
// Nothing if it is something else.
std::optional<std::filesystem::path> RunNamed(const std::string& from, const std::filesystem::path& runs_dir);

// Writes what students did in a run's workspaces as traces into `folder`, a file for each case and student: the first
// answer that passed, without a skill if there is one. Returns their paths. Errors (kInput): the run has none.
Result<std::vector<std::string>> WriteTracesOfRun(const std::filesystem::path& run, const Folder& folder);

}  // namespace upskill
