// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cluster/job_engine.h"
#include "util/result.h"

namespace upskill {

// Where a task writes, below the run's folder: shards/3/ has its runs, `log` (what the command prints) and `exit` (its
// exit code, once it has ended by itself).
std::string ShardFolder(int shard);

// Where the script of a task says why it failed, below the run's folder, for engines that keep its output:
// jobs/NAME-3.out. What the command prints is in the shard's `log`.
std::string TaskOutputFile(const std::string& array, const std::string& shard);

// The path of one of an array's inputs below the current folder, whose copy jobs elsewhere get. Error (kInput): it is
// not below it.
Result<std::filesystem::path> PathOfInput(const std::string& input);

// The shell script of every task: runs the command for the shard that the shell expression `shard` names
// ("$SLURM_ARRAY_TASK_ID"). `head`: lines after the first, such as settings in comments.
std::string TaskScript(const JobArray& array, const std::string& shard, const std::string& head = "");

}  // namespace upskill
