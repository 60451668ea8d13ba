// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/unfinished_jobs.h"

#include <cstddef>

#include "cluster/job_record.h"
#include "eval/journal/journal.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

TerminalText UnfinishedJobsText(const fs::path& runs_dir, const std::set<std::string>& complete) {
  TerminalText lines;
  std::size_t count = 0;
  for (const fs::path& folder : StampedFolders(runs_dir, kJobsFile)) {
    const std::string run = folder.filename().string();
    if (complete.contains(run)) continue;
    const Result<JobRecord> record = LoadJobRecord(folder);
    if (record && record->submissions.empty()) continue;  // there is nothing to go on with
    if (!record) {
      lines += TerminalText::Format("  {}: {}\n", run, record.error().message);
    } else {
      lines += TerminalText::Format("  upskill eval SKILL --on {} --resume {}\n", ShellWord(record->engine), run);
    }
    ++count;
  }
  if (count == 0) return {};
  return TerminalText::Format(
             "{} in jobs {} unfinished. Continue with the skill, models and options that {} started with:\n",
             Counted(count, "run"), count == 1 ? "is" : "are", count == 1 ? "it was" : "each was") +
         lines;
}

}  // namespace upskill
