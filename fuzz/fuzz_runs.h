// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Files beside journals, in a folder of runs that may come from elsewhere.

// The rows of a line of summaries.jsonl.
void FuzzRunSummaries(std::string_view input);
std::vector<std::string> RunSummariesSeeds();

// judges.jsonl and judgments.jsonl.
void FuzzJudgeFiles(std::string_view input);
std::vector<std::string> JudgeFilesSeeds();

}  // namespace upskill
