// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the command-line tools of engines print: sbatch, squeue, sacct, kubectl, hf.
void FuzzJobOutput(std::string_view input);
std::vector<std::string> JobOutputSeeds();

// jobs.json of a run.
void FuzzJobRecord(std::string_view input);
std::vector<std::string> JobRecordSeeds();

}  // namespace upskill
