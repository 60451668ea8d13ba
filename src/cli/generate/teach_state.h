// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "util/folder.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// How far `teach` has come with the same cases, teacher and skill, so that the same command goes on: the teacher's run,
// the generation, and the runs of the students, by their names below the runs folder. It is stored at each step.
class TeachState {
 public:
  // `folder`: of these cases. `inputs`: what the teacher's work depends on. A file that can't be read counts as none:
  // what it named is found in the cache again, apart from turns of unfinished cases.
  static Result<TeachState> Open(Folder folder, const std::filesystem::path& runs_dir, const Json& inputs);

  // The teacher's run and the generation; empty: there is none yet, or it is gone.
  std::string solve_run() const;
  std::string generation() const;
  // The run of students with these settings, if the skill is still the one that they were measured with; else empty.
  std::string measure_run(const Json& settings) const;
  // Whether the skill has been written, and that run finished.
  bool is_written() const;
  bool is_measured(const Json& settings) const;

  Status NoteSolveRun(const std::string& run);
  Status NoteGeneration(const std::string& id);
  Status NoteWritten();
  Status NoteMeasureRun(const Json& settings, const std::string& run);
  Status NoteMeasured(const Json& settings);

  // What a run has cost, as far as it is known; 0 without a run.
  double SpentOn(const std::string& run) const;

 private:
  TeachState(Folder folder, std::filesystem::path runs_dir, std::string name)
      : folder_(std::move(folder)), runs_dir_(std::move(runs_dir)), name_(std::move(name)) {}
  Status Store() const;
  std::string NameAt(const Json& object, const char* key, const char* below, const char* file) const;

  Folder folder_;
  std::filesystem::path runs_dir_;
  std::string name_;  // of the file
  Json state_ = Json::object();
};

}  // namespace upskill
