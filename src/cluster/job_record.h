// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/job_engine.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// An array that was submitted, or was about to be when the program ended.
struct JobSubmission {
  std::string name;
  std::string id;  // empty: not known (yet)
  std::vector<int> shards;
};

// jobs.json in the run's folder: what is needed to follow its jobs again. Persisted by the names in JobRecordToJson.
struct JobRecord {
  std::string created;  // UTC
  std::string engine;   // as --on has it: "slurm:gpu"
  int shards = 1;
  std::vector<std::string> job_options;  // as given
  std::vector<std::string> arguments;    // of `eval`, for every shard: "--seed=7"
  std::vector<JobSubmission> submissions;
  std::optional<double> max_cost_usd;  // of the whole run
  std::optional<std::int64_t> max_tokens;
  std::string gate;
  bool counted = false;  // the ledger knows the run
};

inline constexpr const char* kJobsFile = "jobs.json";
inline constexpr int kMaxShards = 1000;  // Slurm takes array indices up to this unless configured otherwise

Json JobRecordToJson(const JobRecord& record);
// Errors: a field is missing, or isn't what this program writes. `source` is for their messages.
Result<JobRecord> JobRecordFromJson(const Json& json, const std::string& source);

Result<JobRecord> LoadJobRecord(const std::filesystem::path& run_folder);
Status StoreJobRecord(const std::filesystem::path& run_folder, const JobRecord& record);

}  // namespace upskill
