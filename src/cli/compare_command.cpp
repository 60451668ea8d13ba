// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/color_option.h"
#include "cli/config.h"
#include "cli/help_formatter.h"
#include "cli/loaded_run.h"
#include "report/compare_text.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

Result<fs::path> FindOne(const std::string& name, const fs::path& runs_dir) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> folders, FoldersOf(name, runs_dir));
  if (folders.size() > 1) {
    return InputError(fmt::format("{} contains {} runs; name one of them, for example {}", name, folders.size(),
                                  folders.back().string()));
  }
  if (IsPythonRun(folders.front())) {
    return InputError(
        fmt::format("{} was written by the Python tool, which doesn't record its cases, so it can't be compared; "
                    "`upskill report {}` shows it",
                    name, name));
  }
  return folders.front();
}

struct ComparedRuns {
  JudgedRun a;
  JudgedRun b;
};

Result<ComparedRuns> LoadBoth(const CompareOptions& options, const fs::path& runs_dir) {
  ASSIGN_OR_RETURN(const fs::path a, FindOne(options.a, runs_dir));
  ASSIGN_OR_RETURN(const fs::path b, FindOne(options.b, runs_dir));
  std::error_code code;
  if (fs::equivalent(a, b, code)) return InputError(fmt::format("{} and {} are the same run", options.a, options.b));
  ComparedRuns runs;
  ASSIGN_OR_RETURN(runs.a, LoadRun(a));
  ASSIGN_OR_RETURN(runs.b, LoadRun(b));
  return runs;
}

}  // namespace

void AddCompareCommand(CLI::App& app, CompareOptions& options) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare two runs of the same cases: what got better or worse")->group("Results");
  command->add_option("A", options.a, "Earlier run: a folder, a name, the last 4 characters of its name, or latest")
      ->required();
  command->add_option("B", options.b, "Later run; ▲ marks cases that improved from A to B")->required();
  command
      ->add_option("-d,--runs-dir,--dir", options.runs_dir,
                   "Folder of runs given by name [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("--json", options.json, "Print the comparison as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Compare a run with the latest one", "upskill compare 4f2a latest"},
                         {"Compare two run folders", "upskill compare runs-old/4f2a runs-new/91c0 --json"}});
}

ExitCode RunCompare(const CompareOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const Result<ComparedRuns> runs = LoadBoth(options, RunsFolder(options.runs_dir, *config));
  if (!runs) return PrintError(env, runs.error());
  const Result<RunComparison> comparison = CompareRuns(runs->a, runs->b);
  if (!comparison) return PrintError(env, comparison.error());
  PrintRunNotes(runs->a, env);
  PrintRunNotes(runs->b, env);
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(CompareToJson(*comparison)) + "\n");
  } else {
    env.out(CompareText(*comparison, StyleFor(env, env.out_is_terminal, options.color)));
  }
  return ExitCode::kSuccess;
}

}  // namespace upskill
