// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/loaded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "eval/journal/journal.h"
#include "report/export/python_files.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

// A run by its name, also one of the Python tool: by its whole name, or as the latest.
Result<fs::path> ResolveAnyRun(const fs::path& runs_dir, const std::string& name) {
  Result<fs::path> ours = ResolveRun(runs_dir, name);
  if (ours && name != "latest") return ours;
  for (const fs::path& folder : FindPythonRuns(runs_dir)) {
    const bool is_later = name == "latest" && (!ours || ours->filename() < folder.filename());
    if (is_later || folder.filename() == name) ours = folder;
  }
  return ours;
}

}  // namespace

Result<JudgedRun> LoadRun(const fs::path& folder) {
  ASSIGN_OR_RETURN(RunData data, RunData::Read(folder));
  return Judge(std::move(data));
}

void PrintRunNotes(const JudgedRun& run, Env& env) {
  const std::string& name = run.plan().run;
  if (const std::size_t skipped = run.data.skipped_lines(); skipped > 0) {
    env.error(TerminalText::Format("note: run {}: {} line{} of samples.jsonl could not be read and {} ignored\n", name,
                                   skipped, skipped == 1 ? "" : "s", skipped == 1 ? "is" : "are"));
  }
  const RunSummary& summary = run.summary;
  if (!summary.complete()) {
    env.error(TerminalText::Format("note: run {} is incomplete: {} of {} cells are unanswered and not counted\n", name,
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
    ASSIGN_OR_RETURN(const fs::path run, ResolveAnyRun(runs_dir, name));
    return std::vector<fs::path>{run};
  }
  if (fs::exists(folder / "plan.json", code) || IsPythonRun(folder)) return std::vector<fs::path>{folder};
  std::vector<fs::path> runs = FindRuns(folder);
  for (fs::path& run : FindPythonRuns(folder)) runs.push_back(std::move(run));
  std::stable_sort(runs.begin(), runs.end(),
                   [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  if (runs.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} is not a run and contains none: no plan.json in it or in its folders", name)};
  }
  return runs;
}

}  // namespace upskill
