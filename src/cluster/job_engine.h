// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// What an engine says of one task of a job array. Whether a task has done its work is never judged by it: only the
// journal of its shard counts.
struct TaskState {
  enum class Phase { kUnknown, kWaiting, kRunning, kEnded };  // kUnknown: by a word that this program doesn't know
  Phase phase = Phase::kUnknown;
  std::string word;  // the engine's own: "PENDING (Resources)", "NODE_FAIL"; may be empty
};

// Tasks of one run that are submitted together: each does one shard.
struct JobArray {
  std::string name;                      // no other array has it: letters, digits, `-`
  std::filesystem::path folder;          // the run's, absolute; below it are shards/ and jobs/
  std::filesystem::path working_folder;  // of the tasks, absolute
  std::vector<std::string> command;      // of a task, without its shard and runs folder
  std::vector<int> shards;               // of the tasks, from 1, ascending
  int of = 1;                            // shards of the whole run
  std::vector<std::string> inputs;       // files and folders that the command reads, as it names them
  bool restarts = true;                  // whether the engine may start a task again by itself
};

// One program that runs jobs elsewhere, driven by its own command-line tools. Not thread-safe.
class JobEngine {
 public:
  JobEngine() = default;
  virtual ~JobEngine() = default;
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;

  // Submits an array and returns the engine's id of it. Error (kUnavailable): it may work later, and may have been
  // submitted all the same.
  virtual Result<std::string> Submit(const JobArray& array) = 0;

  // The id of an array whose Submit was cut off; nothing if the engine doesn't know such a name.
  virtual Result<std::optional<std::string>> Find(const std::string& name) = 0;

  // By shard. A task that the engine doesn't know yet, or no longer, is missing. Error (kUnavailable): it can't be
  // asked now.
  virtual Result<std::map<int, TaskState>> Poll(const std::string& name, const std::string& id) = 0;

  // Brings what a task that has ended has written to shards/SHARD in the run's folder. Nothing to do for engines whose
  // tasks write there. Error (kUnavailable): it may work later.
  virtual Status Fetch(const std::string& /*name*/, const std::filesystem::path& /*folder*/, int /*shard*/) {
    return {};
  }

  virtual Status Cancel(const std::string& name, const std::string& id) = 0;

  // Whether tasks see the folders of this machine under the same names.
  virtual bool shares_folders() const { return true; }

  // Whether tasks can use these absolute paths of this machine. Error: one of them is where they see nothing of it.
  virtual Status CheckPlaces(const std::vector<std::filesystem::path>& /*paths*/) const { return {}; }

  // Whether it can be an id of this engine: one from a file isn't given to its tools otherwise.
  virtual bool IsId(std::string_view id) const = 0;

  // The command by which people cancel the array.
  virtual std::string CancelLine(const std::string& id) const = 0;
};

// `--job-option`: what is passed on to the engine, as NAME or NAME=VALUE.
struct JobOption {
  std::string name;  // without dashes
  std::optional<std::string> value;
};

// Error: not of that form.
Result<JobOption> ParseJobOption(std::string_view text);

// Whether this program made it as the name of an array: "upskill-2026-11-24-23-10-11-ab12-3".
bool IsArrayName(std::string_view name);

}  // namespace upskill
