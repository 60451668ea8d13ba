// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "cli/env/config.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "cli/runs/loaded_run.h"
#include "eval/journal/merge.h"
#include "report/export/eval_json.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/result_sentence.h"
#include "util/text.h"

namespace upskill {
namespace {

struct MergeOptions {
  std::vector<std::string> runs;  // folders, names or ends of names of runs; or folders that hold runs
  std::string output;
  std::string runs_dir;  // empty: from the configuration
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

// The runs that the arguments mean, without the one that they are merged into. `shards/*` also names files that stand
// beside runs: results.csv, batches.jsonl.
Result<std::vector<fs::path>> RunsOf(const std::vector<std::string>& names, const fs::path& runs_dir,
                                     const fs::path& target, Env& env) {
  std::vector<fs::path> runs;
  std::size_t found = 0;
  std::error_code code;
  for (const std::string& name : names) {
    if (fs::is_regular_file(name, code)) {
      env.error(TerminalText::Format("note: {} is a file, not a run, and is left out\n", name));
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<fs::path> folders, FoldersOf(name, runs_dir));
    found += folders.size();
    for (const fs::path& run : folders) {
      if (!fs::equivalent(run, target, code)) runs.push_back(run);
    }
  }
  if (runs.empty() && found > 0)
    return InputError("the only run given is the output folder itself; name the shards to merge");
  if (runs.empty()) return Error{ErrorKind::kNotFound, "no runs in the given folders"};
  return runs;
}

void AddMergeCommand(CLI::App& app, MergeOptions& options) {
  CLI::App* command =
      app.add_subcommand("merge", "Merge the shards of a run (eval --shard) into one run")->group("Results");
  command->add_option("RUN", options.runs, "Shards: folders or names of runs, or folders of runs")->required();
  command->add_option("-o,--output", options.output, "Folder of the merged run; merging into it again changes nothing")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("-d,--runs-dir", options.runs_dir,
                   "Folder of runs given by name [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("--json", options.json, "Print the result as JSON, like eval --json");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Merge the runs below shards/", "upskill merge shards/* -o runs/whole"},
                         {"Merge two runs by the ends of their names", "upskill merge 4f2a 91c0 -o runs/whole"}});
}

// Joins the shards of a run and prints its result. Exit code 3 when cells are missing.
ExitCode RunMerge(const MergeOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  const Result<std::vector<fs::path>> runs = RunsOf(options.runs, runs_dir, options.output, env);
  if (!runs) return PrintError(env, runs.error());
  const Result<MergeOutcome> outcome = MergeRuns(*runs, options.output, *env.clock);
  if (!outcome) return PrintError(env, outcome.error());
  const Result<JudgedRun> loaded = LoadRun(outcome->folder);
  if (!loaded) return PrintError(env, loaded.error());
  const JudgedRun& run = *loaded;
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(EvalToJson(run)) + "\n");
  } else {
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    env.out(EvalHead(run, style));
    env.out(TerminalText::Format("merged {}: {}, {} of them in more than one run\n\n", Counted(runs->size(), "run"),
                                 Counted(outcome->samples, "sample"),
                                 WithThousands(static_cast<long long>(outcome->duplicates))));
    env.out(ResultLines(run, style) + "\n");
    env.out(run.plan().students.size() > 1 ? EvalTable(run, style) : EvalBars(run, style));
    env.out(TerminalText::Format("run {}\n", outcome->folder.string()));
  }
  if (run.summary.complete()) return ExitCode::kSuccess;
  env.error(TerminalText::Format("{}: merge the remaining shards into {}\n",
                                 Counted(run.summary.cells - run.summary.answered, "unanswered cell"),
                                 outcome->folder.string()));
  return ExitCode::kIncomplete;
}

}  // namespace

Command MergeCommand() { return CommandOf({"merge"}, AddMergeCommand, RunMerge); }

}  // namespace upskill
