// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/report_export.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>

#include "report/export/inspect_log.h"
#include "report/export/python_export.h"
#include "report/export/skill_creator.h"
#include "util/text.h"

namespace upskill {
namespace {

// Where a folder is written, there must be a name for it.
Status NeedFolder(const std::string& output, const char* format, const char* what) {
  if (!output.empty() && output != "-") return {};
  return InputError(fmt::format("--format {} writes {}; name a folder for {} with -o DIR", format, what,
                                std::string_view(what).starts_with("a ") ? "it" : "them"));
}

std::size_t AnswersIn(std::span<const JudgedRun> runs) {
  std::size_t answers = 0;
  for (const JudgedRun& run : runs) answers += run.summary.answered;
  return answers;
}

}  // namespace

ExitCode WritePythonRuns(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (const Status named = NeedFolder(output, "python", "folders"); !named) return PrintError(env, named.error());
  if (const Status written = ExportToPython(runs, output); !written) return PrintError(env, written.error());
  std::size_t results = 0;
  for (const JudgedRun& run : runs) results += PythonRounds(run).size();
  env.out(TerminalText::Format("{} written: {} as {}, and results.csv\n", output, Counted(runs.size(), "run"),
                               Counted(results, "run_N folder")));
  return ExitCode::kSuccess;
}

ExitCode WriteSkillCreatorWorkspace(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (const Status named = NeedFolder(output, "skill-creator", "a workspace"); !named)
    return PrintError(env, named.error());
  if (const Status written = ExportToSkillCreator(runs, output); !written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} written: {}, {}\n", output, Counted(runs.size(), "iteration"),
                               Counted(AnswersIn(runs), "answer")));
  return ExitCode::kSuccess;
}

ExitCode WriteInspectLogs(std::span<const JudgedRun> runs, const std::string& output, Env& env) {
  if (output.empty() || output == "-") {
    return PrintError(env, InputError("--format inspect writes a log; name it with -o FILE.eval, or a folder for the "
                                      "logs of several models with -o DIR"));
  }
  const Result<InspectLogs> written = ExportToInspect(runs, output, UPSKILL_VERSION);
  if (!written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} written: {}, {}\n", output, Counted(written->files, "log"),
                               Counted(written->samples, "sample")));
  return ExitCode::kSuccess;
}

}  // namespace upskill
