// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "eval/journal/sample_list.h"
#include "eval/plan/plan.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// One result of the Python tool of the same name: run_result.json (its class RunResult), as read and as written. What
// each number means when this program writes it: docs/reports.md.

// The object `metadata`, which is also run_metadata.json.
Json PythonMetadata(const Plan& plan, const Student& student, int number);

// The object `stats` of answers; samples that are errors don't count. The keys of tokens are left out if the model
// doesn't report them for every answer: the Python tool takes whole numbers only, and a key that is missing for 0.
Json PythonStats(const SampleList& samples);

// A whole number as other programs may write it (5, 5.0, 1e400), within a range that sums can't leave.
std::int64_t WholeNumber(const Json& object, const char* key);

// An object from a file of the Python tool.
Result<Json> ReadPythonObject(const std::filesystem::path& file);

// run_result.json of a folder run_N, or what run_metadata.json alone allows to say.
Result<Json> ReadPythonResult(const std::filesystem::path& run_folder);

// The beginning of the head line of its tables, which tells them from other tables.
inline constexpr const char* kPythonCsvBeginning = "batch_id,run_number,";

// The results as the Python tool's `runs --csv` writes them, with a head line and CRLF; formulas are guarded against
// (CsvField).
std::string PythonCsv(const std::vector<Json>& results);

}  // namespace upskill
