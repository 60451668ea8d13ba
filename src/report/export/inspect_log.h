// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "eval/verdict/judged_run.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Logs of Inspect AI (UKGovernmentBEIS/inspect_ai, format version 2: src/inspect_ai/log/_log.py), described in
// docs/evaluation-files.md. A log is of one model; its samples are those of all arms.

// Everything but the samples: what header.json of an .eval file has. `version`: this program's.
Json InspectHeader(const JudgedRun& run, std::size_t student, const std::string& version);

// One file: a zip archive (.eval), or one JSON object (.json). Error (kInput): more samples than an archive holds.
Result<std::string> InspectArchive(const JudgedRun& run, std::size_t student, const std::string& version);
std::string InspectJson(const JudgedRun& run, std::size_t student, const std::string& version);

// What was written.
struct InspectLogs {
  std::size_t files = 0;
  std::size_t samples = 0;
};

// Writes the log of one model of one run to a file whose name ends in .eval or .json, or those of any number of them to
// a new folder `output`, N-<model>.eval, of several runs in a folder for each. Errors (kInput): several logs for one
// file, the folder is there already.
Result<InspectLogs> ExportToInspect(std::span<const JudgedRun> runs, const std::filesystem::path& output,
                                    const std::string& version);

}  // namespace upskill
