// SPDX-License-Identifier: Apache-2.0
#include "cli/loaded_run.h"

#include <fmt/format.h>

#include "eval/journal.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

Result<LoadedRun> LoadRun(const fs::path& folder) {
  LoadedRun run;
  ASSIGN_OR_RETURN(const Plan plan, LoadPlan(folder));
  ASSIGN_OR_RETURN(JournalContent content, ReadJournal(folder));
  run.samples = std::move(content.samples);
  run.skipped_lines = content.skipped_lines;
  run.judged = Judge(plan, run.samples);
  return run;
}

void PrintRunNotes(const LoadedRun& run, Env& env) {
  const std::string name = SafeForTerminalLine(run.judged.plan.run);
  if (run.skipped_lines > 0) {
    env.error(fmt::format("note: run {}: {} line{} of samples.jsonl could not be read and {} ignored\n", name,
                          run.skipped_lines, run.skipped_lines == 1 ? "" : "s", run.skipped_lines == 1 ? "is" : "are"));
  }
  const RunSummary& summary = run.judged.summary;
  if (!summary.complete()) {
    env.error(fmt::format("note: run {} is incomplete: {} of {} cells have no answer and are not counted\n", name,
                          WithThousands(static_cast<long long>(summary.cells - summary.answered)),
                          WithThousands(static_cast<long long>(summary.cells))));
  }
}

bool IsPythonRun(const fs::path& folder) {
  std::error_code code;
  if (fs::exists(folder / "plan.json", code)) return false;
  if (fs::exists(folder / "batch_summary.json", code)) return true;
  return fs::exists(folder / "run_1" / "run_result.json", code) ||
         fs::exists(folder / "run_1" / "run_metadata.json", code);
}

Result<std::vector<fs::path>> FoldersOf(const std::string& name, const fs::path& runs_dir) {
  std::error_code code;
  const fs::path folder = name;
  if (!fs::is_directory(folder, code)) {
    ASSIGN_OR_RETURN(const fs::path run, ResolveRun(runs_dir, name));
    return std::vector<fs::path>{run};
  }
  if (fs::exists(folder / "plan.json", code) || IsPythonRun(folder)) return std::vector<fs::path>{folder};
  std::vector<fs::path> runs = FindRuns(folder);
  if (runs.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} is not a run and contains none: no plan.json in it or in its folders",
                             SafeForTerminalLine(name))};
  }
  return runs;
}

}  // namespace upskill
