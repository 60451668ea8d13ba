// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// A command that does what assets/cuda_runtime/torch_tasks.py is told, with PyTorch. `files`: those that it reads.
SandboxCommand TorchCommand(Json task, std::map<std::string, std::string> files, const Sandbox& sandbox);

// Error: such a command has found no PyTorch. Says how to get it.
Status CheckHasTorch(const SandboxOutcome& outcome);

// The cases of a task file of KernelBench, or of all those in a folder: each asks for a ModelNew, and has a check of
// the type cuda_run with sizes that can be interpreted. A file that can't be judged is a warning. Each is read in a
// sandbox of its own. Errors: no PyTorch, no case, or `*stop` isn't 0.
Result<Suite> ReadTorchTasks(const std::filesystem::path& path, const Sandbox& sandbox, const StopFlag* stop);

}  // namespace upskill
