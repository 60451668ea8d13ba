// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "cli/env/config.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "cli/runs/loaded_run.h"
#include "eval/verdict/judged_run.h"
#include "import/imported_results.h"
#include "import/imported_run.h"
#include "import/read_results.h"
#include "report/export/eval_json.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/result_sentence.h"
#include "util/text.h"

namespace upskill {
namespace {

struct ImportCommandOptions {
  std::vector<std::string> files;  // and folders
  std::string runs_dir;            // empty: from the configuration
  ImportOptions reading;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

// What importing one evaluation has led to.
struct Imported {
  fs::path folder;
  bool is_new = true;
  std::size_t of_same_skill = 0;  // other imported runs
};

Result<Imported> ImportOne(ImportedResults results, const ImportOptions& options, const fs::path& runs_dir,
                           const Clock& clock) {
  ASSIGN_OR_RETURN(ImportedRun run, ArrangeResults(std::move(results), options));
  const EarlierImports earlier = FindEarlierImports(runs_dir, run.plan);
  Imported imported;
  imported.of_same_skill = earlier.of_same_skill;
  imported.is_new = !earlier.same;
  if (earlier.same) {
    imported.folder = *earlier.same;
  } else {
    ASSIGN_OR_RETURN(imported.folder, WriteImportedRun(runs_dir, run, clock));
  }
  return imported;
}

void PrintImported(const Imported& imported, const JudgedRun& run, const Style& style, const Env& env) {
  const ImportSource& source = *run.plan().imported;
  env.out(TerminalText::Format("{} {} ({})\n", imported.is_new ? "imported" : "imported before:", source.source,
                               source.format));
  env.out(EvalHead(run, style));
  env.out("\n" + ResultLines(run, style) + "\n");
  env.out(run.plan().students.size() > 1 ? EvalTable(run, style) : EvalBars(run, style));
  for (const std::string& note : source.notes) env.out(TerminalText::Format("- {}\n", note));
  if (imported.of_same_skill > 0) {
    env.out(TerminalText::Format(
        "- {} of this skill in the same folder: looking at several results and choosing one makes a false verdict more "
        "likely than α.\n",
        imported.of_same_skill == 1 ? std::string("There is another imported run")
                                    : fmt::format("There are {} other imported runs", imported.of_same_skill)));
  }
  env.out(TerminalText::Format("run {} · {}\n", run.plan().run, imported.folder.string()));
}

Error NamedTwice(const ImportOptions& reading) {
  return InputError("--with and --without name the same label: " + reading.with);
}

void AddImportCommand(CLI::App& app, ImportCommandOptions& options) {
  CLI::App* command =
      app.add_subcommand("import", "Judge the results of another program by the rules of eval, without asking a model")
          ->group("Results");
  command->add_option("FILE", options.files, "Result files, or folders of them (docs/import.md)")->required();
  command
      ->add_option("-o,-d,--runs-dir", options.runs_dir,
                   "Folder to write the runs to [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_option("--with", options.reading.with, "Label of the answers with the skill [default: with_skill, …]")
      ->type_name("LABEL");
  command
      ->add_option("--without", options.reading.without,
                   "Label of the answers without the skill [default: without_skill, baseline, …]")
      ->type_name("LABEL");
  command
      ->add_option("--pass-at", options.reading.pass_at,
                   "Score that an answer needs to pass, where a file has scores and no verdicts (0–1)")
      ->capture_default_str()
      ->type_name("SCORE");
  command->add_option("--skill", options.reading.skill, "Name of the skill [default: as the file has it]")
      ->type_name("NAME");
  command->add_flag("--json", options.json, "Print the results as a list of JSON objects, like eval --json");
  AddColorOption(*command, options.color);
  AddExamples(*command,
              {{"Results of skill-creator", "upskill import benchmark.json"},
               {"Two labels of another program's results", "upskill import out.json --with expert --without plain"}});
}

// Writes a run for each evaluation and prints its verdict. Content that was imported before makes no second run.
ExitCode RunImport(const ImportCommandOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  if (!options.reading.with.empty() && options.reading.with == options.reading.without)
    return PrintError(env, NamedTwice(options.reading));
  const bool is_share = options.reading.pass_at >= 0.0 && options.reading.pass_at <= 1.0;  // false for nan too
  if (!is_share) return PrintError(env, InputError("--pass-at: expected a score between 0 and 1, such as 0.8"));
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  Result<std::vector<ImportedResults>> all = ReadResults({options.files.begin(), options.files.end()}, options.reading);
  if (!all) return PrintError(env, all.error());
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  Json documents = Json::array();
  bool is_first = true;
  for (ImportedResults& results : *all) {
    const Result<Imported> imported = ImportOne(std::move(results), options.reading, runs_dir, *env.clock);
    if (!imported) return PrintError(env, imported.error());
    const Result<JudgedRun> run = LoadRun(imported->folder);
    if (!run) return PrintError(env, run.error());
    if (options.json) {
      Json document = EvalToJson(*run);
      document["imported_before"] = !imported->is_new;
      documents.push_back(std::move(document));
      continue;
    }
    if (!std::exchange(is_first, false)) env.out("\n");
    PrintImported(*imported, *run, style, env);
  }
  if (options.json) PrintDocument(env, DumpJsonIndented(documents) + "\n");
  return ExitCode::kSuccess;
}

}  // namespace

Command ImportCommand() { return CommandOf({"import"}, AddImportCommand, RunImport); }

}  // namespace upskill
