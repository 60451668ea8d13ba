// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/env/config.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "cli/runs/loaded_run.h"
#include "eval/plan/plan.h"
#include "eval/verdict/gate.h"
#include "report/terminal/compare_text.h"
#include "report/terminal/contrast_text.h"
#include "util/json.h"

namespace upskill {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::string runs_dir;
  std::vector<std::string> choices;  // none, or two: of A and of B
  double margin_points = 100.0 * VerdictOptions().margin;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

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
  if (options.choices.empty() && fs::equivalent(a, b, code))
    return InputError(
        fmt::format("{} and {} are the same run; --choices compares two choices of it", options.a, options.b));
  ComparedRuns runs;
  ASSIGN_OR_RETURN(runs.a, LoadRun(a));
  ASSIGN_OR_RETURN(runs.b, LoadRun(b));
  return runs;
}

Result<ChoiceAnswers> FindChoice(const std::string& text, const JudgedRun& run) {
  ASSIGN_OR_RETURN(const GateChoice choice, ParseGateChoice(text));
  const std::optional<std::size_t> student = StudentNamed(run.plan(), choice.model);
  if (!student) return InputError(fmt::format("--choices: run {} has no model '{}'", run.plan().run, choice.model));
  if (!run.plan().has_arm(choice.arm))
    return InputError(fmt::format("--choices: run {} has no arm '{}'", run.plan().run, ArmName(choice.arm)));
  return AnswersOf(run.data, *student, choice.arm);
}

// The two choices that were named, else every model that both runs have, with the skill, unless its answers are the
// same.
Result<std::vector<NamedContrast>> MakeContrasts(const CompareOptions& options, const ComparedRuns& runs,
                                                 const RunComparison& comparison) {
  std::vector<NamedContrast> contrasts;
  if (!options.choices.empty()) {
    ASSIGN_OR_RETURN(const ChoiceAnswers a, FindChoice(options.choices.at(0), runs.a));
    ASSIGN_OR_RETURN(const ChoiceAnswers b, FindChoice(options.choices.at(1), runs.b));
    contrasts.push_back(ContrastBWithA(a, b));
    return contrasts;
  }
  if (!runs.a.plan().has_arm(Arm::kSkill) || !runs.b.plan().has_arm(Arm::kSkill)) return contrasts;
  for (std::size_t i = 0; i < runs.a.plan().students.size(); ++i) {
    const std::optional<std::size_t> other = StudentNamed(runs.b.plan(), runs.a.plan().students[i].spec);
    if (!other || comparison.students[i].same_answers) continue;
    contrasts.push_back(
        ContrastBWithA(AnswersOf(runs.a.data, i, Arm::kSkill), AnswersOf(runs.b.data, *other, Arm::kSkill)));
  }
  return contrasts;
}

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
  command
      ->add_option(
          "-c,--choices", options.choices,
          "Compare choice X of A with choice Y of B; a choice is a model, such as opus, or haiku+skill with the "
          "skill (also +placebo, +previous) [default: each model of both runs, with the skill]")
      ->expected(2)
      ->type_name("X Y");
  command
      ->add_option("--margin", options.margin_points,
                   "Loss that must be ruled out for `not worse`, in percentage points")
      ->capture_default_str()
      ->check(Number(0.1, 99.0))
      ->type_name("POINTS");
  command->add_flag("--json", options.json, "Print the comparison as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Compare a run with the latest one", "upskill compare 4f2a latest"},
                         {"Ask whether haiku with the skill can replace opus without it",
                          "upskill compare latest latest --choices opus haiku+skill --margin 5"},
                         {"Compare two run folders", "upskill compare runs-old/4f2a runs-new/91c0 --json"}});
}

ExitCode RunCompare(const CompareOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const Result<ComparedRuns> runs = LoadBoth(options, RunsFolder(options.runs_dir, *config));
  if (!runs) return PrintError(env, runs.error());
  const Result<RunComparison> comparison = CompareRuns(runs->a, runs->b);
  if (!comparison) return PrintError(env, comparison.error());
  const Result<std::vector<NamedContrast>> contrasts = MakeContrasts(options, *runs, *comparison);
  if (!contrasts) return PrintError(env, contrasts.error());
  const double margin = options.margin_points / 100.0;
  PrintRunNotes(runs->a, env);
  PrintRunNotes(runs->b, env);
  if (options.json) {
    Json document = CompareToJson(*comparison);
    document["contrasts"] = ContrastsToJson(*contrasts, margin);
    PrintDocument(env, DumpJsonIndented(document) + "\n");
    return ExitCode::kSuccess;
  }
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  env.out(CompareText(*comparison, style));
  if (!contrasts->empty()) env.out("\n" + ContrastsText(*contrasts, margin, style));
  return ExitCode::kSuccess;
}

}  // namespace

Command CompareCommand() { return CommandOf({"compare"}, AddCompareCommand, RunCompare); }

}  // namespace upskill
