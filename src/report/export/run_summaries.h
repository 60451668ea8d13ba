// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal/runs_text.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// The file in a runs folder that keeps what `upskill runs` shows of each run. It can be removed at any time.
inline constexpr const char* kSummariesFile = "summaries.jsonl";

// What `upskill runs` shows of a run.
struct RunSummaryRows {
  std::string skill;
  std::string trial;  // Plan::trial
  std::size_t skipped_lines = 0;
  std::vector<RunRow> rows;
};

// The summaries of the runs in one folder, read from its file and stored there again. A summary counts only for
// plan.json and samples.jsonl as they were when it was made, and for this version of the program. Not thread-safe.
class RunSummaries {
 public:
  // A file that can't be read is as good as none.
  RunSummaries(std::filesystem::path runs_dir, const Clock& clock);

  // Nothing: the run has to be judged again.
  std::optional<RunSummaryRows> Find(const std::filesystem::path& run_folder);
  void Put(const std::filesystem::path& run_folder, const RunSummaryRows& summary);
  // Replaces the file if that is worth it: any summary is new, and there are many. Those not asked for are kept.
  Status Store() const;

 private:
  std::optional<std::string> IdentityOf(const std::filesystem::path& run_folder) const;

  std::filesystem::path runs_dir_;
  const Clock* clock_;
  std::map<std::string, std::string, std::less<>> lines_;  // of the file, by the run's folder
  bool changed_ = false;
};

}  // namespace upskill
