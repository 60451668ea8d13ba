// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/job_engine.h"
#include "util/result.h"

namespace upskill {

// Slurm, by sbatch, squeue, sacct and scancel. Its nodes see the same folders as this machine. `partition` may be
// empty: Slurm's default. `options` are sbatch's. Error (kInput): an option that the engine sets itself.
Result<std::unique_ptr<JobEngine>> MakeSlurm(const std::string& partition, const std::vector<JobOption>& options);

// What `sbatch --parsable` prints: "17\n" or "17;cluster\n".
Result<std::string> SlurmIdFrom(std::string_view output);

// What `squeue -h -r -t all -o '%F|%K|%T|%r'` prints, for one array: the tasks by index. Lines of another form, or of
// another array, are errors; tasks without an index (not of an array) are skipped.
Result<std::map<int, TaskState>> TasksFromSqueue(std::string_view output, const std::string& id);

// The final states in what `sacct -n -P -X -o JobID,State` prints. Lines of another form are skipped: it only adds
// words.
std::map<int, std::string> StatesFromSacct(std::string_view output, const std::string& id);

}  // namespace upskill
