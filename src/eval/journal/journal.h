// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "util/append_file.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// Writes samples.jsonl of one run: append-only, one write per line. Its owner syncs it at least once a second
// (SyncWhenDue) and at the end. One owner, not thread-safe; any process may read the file meanwhile.
class Journal {
 public:
  // A new run: creates runs_dir/<time>-<4 hex>, fills in plan.run and plan.created and writes plan.json.
  static Result<Journal> Create(const std::filesystem::path& runs_dir, Plan& plan, const Clock& clock);
  // Resumes a run; a line torn by a crash is cut off.
  static Result<Journal> Reopen(const std::filesystem::path& run_folder, const Clock& clock);
  // Replaces plan.json, whose terms have changed.
  Status StorePlan(const Plan& plan) const;

  Status Append(const Sample& sample);
  Status SyncWhenDue();  // if lines are unsynced and the last sync was at least a second ago
  Status Sync();
  // Removes the folder of a new run that can't begin.
  void Discard();

  const std::filesystem::path& folder() const { return folder_; }

 private:
  Journal(std::filesystem::path folder, AppendFile file, const Clock& clock)
      : folder_(std::move(folder)), file_(std::move(file)), clock_(&clock), last_sync_(clock.Now()) {}

  std::filesystem::path folder_;
  AppendFile file_;
  const Clock* clock_;  // outlives the journal
  Clock::Steady last_sync_;
  bool unsynced_ = false;
};

struct JournalContent {
  std::vector<Sample> samples;
  std::size_t skipped_lines = 0;  // torn, of a newer version, damaged, or too long
};

// Longer lines of samples.jsonl are skipped. Those that this program writes are shorter (CutAnswer).
inline constexpr std::size_t kMaxJournalLineBytes = std::size_t{128} << 20U;

// Reads the samples of a run, also while it is being written. A missing samples.jsonl is an empty journal.
Result<JournalContent> ReadJournal(const std::filesystem::path& run_folder,
                                   std::size_t max_line_bytes = kMaxJournalLineBytes);

// A whole line of samples.jsonl, without its newline.
struct JournalLine {
  std::string_view text;     // while it is visited
  std::uint64_t offset = 0;  // of its first byte in the file
};

// Calls `visit` with every whole line of a run's samples.jsonl, in order, in bounded memory. Returns the number of
// lines that were skipped because they are too long.
Result<std::size_t> VisitJournalLines(const std::filesystem::path& run_folder,
                                      const std::function<void(const JournalLine&)>& visit,
                                      std::size_t max_line_bytes = kMaxJournalLineBytes);
// The same of an open file, from its start. `path` is for the message of an error.
Result<std::size_t> VisitJournalLines(const Fd& file, const std::filesystem::path& path,
                                      const std::function<void(const JournalLine&)>& visit,
                                      std::size_t max_line_bytes = kMaxJournalLineBytes);

// Whether a run has an answer, one that isn't checked yet included; also where that can't be read.
bool HasAnswer(const std::filesystem::path& run_folder);

// Whether a process, this one included, writes the run's journal now (not detected on file systems without locks).
bool IsBeingWritten(const std::filesystem::path& run_folder);

// The folders below `parent` that contain `file`, in the order in which they were made: by the time `created` near the
// start of that file, else by their names. (Names are in local time, in which clocks are set back and users travel.)
std::vector<std::filesystem::path> StampedFolders(const std::filesystem::path& parent, const std::string& file);

// The run folders below `runs_dir` (those with a plan.json), oldest first. A missing folder has none.
std::vector<std::filesystem::path> FindRuns(const std::filesystem::path& runs_dir);

// Creates parent/<time>-<4 hex> under an unused name.
Result<std::filesystem::path> MakeStampedFolder(const std::filesystem::path& parent, Clock::Wall time);

// The folder that `name` refers to, by its name, the 4 hex digits at its end, or `latest`. `folders`: oldest first.
// Nothing if none matches; an error if several do.
Result<std::optional<std::filesystem::path>> PickStampedFolder(const std::vector<std::filesystem::path>& folders,
                                                               const std::string& name);

// The run that `name` refers to: a folder, its name, the 4 hex digits at its end, or `latest`, the newest.
Result<std::filesystem::path> ResolveRun(const std::filesystem::path& runs_dir, const std::string& name);

}  // namespace upskill
