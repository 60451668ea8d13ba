// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Makes a suite of task files in KernelBench's format, which are Python and have to be run for that.
using TaskReader = Result<Suite> (*)(const std::filesystem::path& path, const Sandbox& sandbox, const StopFlag* stop);

// Adds that of a wing. Call it before suites are loaded.
void SetTaskReader(TaskReader reader);

// The file, if it is Python, or the folder's files with tasks, in the order of their names.
std::vector<std::filesystem::path> TaskFilesIn(const std::filesystem::path& path);

// LoadSuite that also takes task files. Reading those ends once `*stop` isn't 0.
Result<Suite> LoadSuiteOrTasks(const std::filesystem::path& path, const std::filesystem::path& skill,
                               const Sandbox& sandbox, const StopFlag* stop = nullptr);

}  // namespace upskill
