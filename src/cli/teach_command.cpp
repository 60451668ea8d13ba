// SPDX-License-Identifier: Apache-2.0
#include "cli/teach_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "cli/color_option.h"
#include "cli/config.h"
#include "cli/eval_command.h"
#include "cli/generate_command.h"
#include "cli/generate_run.h"
#include "cli/help_formatter.h"
#include "cli/option_checks.h"
#include "cli/students.h"
#include "cli/workspace_option.h"
#include "skill/skill_text.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestToSplit = 4;

// The cases that the teacher solves, and those that students are measured on: the same where there are too few.
struct TaughtCases {
  std::string to_solve;  // paths
  std::string to_measure;
  std::size_t solved = 0;
  std::size_t measured = 0;
  bool same = false;
};

Status WriteCasesFile(const Suite& suite, const std::vector<Case>& cases, const Folder& folder,
                      const std::string& name) {
  Suite part;
  part.document = {{"cases", Json::array()}};
  if (const Json* const servers = FindMember(suite.document, "mcp"); servers != nullptr)
    part.document["mcp"] = *servers;
  part.cases = cases;
  for (Case& test_case : part.cases) test_case.mode = CaseMode::kWorkspace;
  return folder.WriteFile(name, DumpJsonIndented(SuiteToJson(part)) + "\n");
}

// About two of three cases are solved; which ones follows from their texts, so that the same command does the same.
Result<TaughtCases> DivideCases(const std::string& path, const fs::path& runs_dir) {
  ASSIGN_OR_RETURN(const Suite suite, LoadSuite(path));
  std::vector<std::pair<std::string, const Case*>> ordered;
  for (const Case& test_case : suite.cases) {
    if (test_case.fill) {
      return InputError(fmt::format("{}: it has a gap to fill, which can't be done in a workspace; leave it out",
                                    test_case.place.empty() ? test_case.id : test_case.place));
    }
    ordered.emplace_back(Sha256Hex(test_case.input), &test_case);
  }
  std::sort(ordered.begin(), ordered.end());
  TaughtCases taught;
  taught.same = ordered.size() < kFewestToSplit;
  const std::size_t split = taught.same ? ordered.size() : (2 * ordered.size() + 2) / 3;
  std::vector<Case> solved;
  std::vector<Case> measured;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (i < split) solved.push_back(*ordered[i].second);
    if (taught.same || i >= split) measured.push_back(*ordered[i].second);
  }
  ASSIGN_OR_RETURN(const Folder runs, Folder::Make(runs_dir));
  const std::string key = Sha256Hex(DumpJson(SuiteToJson(suite))).substr(0, 12);
  ASSIGN_OR_RETURN(const Folder folder, runs.MakeBelow(fs::path("teach") / key));
  RETURN_IF_ERROR(WriteCasesFile(suite, solved, folder, "solve.json"));
  RETURN_IF_ERROR(WriteCasesFile(suite, measured, folder, "measure.json"));
  taught.to_solve = (folder.path() / "solve.json").string();
  taught.to_measure = (folder.path() / "measure.json").string();
  taught.solved = solved.size();
  taught.measured = measured.size();
  return taught;
}

EvalOptions EvalOptionsOf(const TeachOptions& options) {
  EvalOptions eval;
  eval.base_urls = options.base_urls;
  eval.parallel = options.parallel;
  eval.workspace = options.workspace;
  eval.workspace.mode = "workspace";
  eval.sandbox = options.sandbox;
  eval.runs_dir = options.runs_dir;
  eval.max_tokens = options.max_tokens;
  eval.quiet = options.quiet;
  eval.color = options.color;
  return eval;
}

// What would end the last step, after the others were paid for.
Status CheckModels(const TeachOptions& options, const Env& env) {
  ModelOptions model_options;
  model_options.base_urls = options.base_urls;
  model_options.client = std::make_shared<HttpClient>();
  model_options.quiet = options.quiet;
  std::vector<std::unique_ptr<Model>> students;
  for (const std::string& spec : options.students) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> student, OpenModel(spec, model_options, env));
    if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*student, spec));
    RETURN_IF_ERROR(CheckCanAct(*student));
    students.push_back(std::move(student));
  }
  return CheckModelsDiffer(students, options.students);
}

// The teacher's own run, without a skill.
Result<JudgedRun> Solve(const TeachOptions& options, const TaughtCases& cases, const Config& config, Budget& budget,
                        Env& env) {
  ASSIGN_OR_RETURN(const TempFolder scratch, TempFolder::Make("upskill-teach-"));
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(scratch.path() / "none"));
  RETURN_IF_ERROR(WriteSkillFolder({"none", "No skill.", "Nothing.", {}, {}, ""}, folder));
  EvalOptions eval = EvalOptionsOf(options);
  eval.skill = folder.path().string();
  eval.tests = cases.to_solve;
  eval.models = {options.teacher};
  eval.workspace.load = "body";
  eval.only_baseline = true;
  eval.ledger = false;
  return RunEvalQuietly(eval, config, budget, env);
}

std::string OutputOf(const TeachOptions& options) {
  if (!options.output.empty()) return options.output;
  return SkillNameFrom(fs::path(options.cases).stem().string());
}

GenerateEnd Distil(const CLI::App& app, const TeachOptions& options, const std::string& run, const TaughtCases& cases,
                   std::optional<double> left_usd, Env& env) {
  GenerateCommandOptions generate;
  generate.task = options.task;
  generate.from = {run};
  generate.model = options.teacher;
  generate.base_urls = options.base_urls;
  generate.tests = cases.to_solve;
  generate.no_eval = true;
  generate.output = OutputOf(options);
  generate.runs_dir = options.runs_dir;
  generate.how.max_cost_usd = left_usd;
  generate.quiet = options.quiet;
  generate.color = options.color;
  return RunGenerate(app, generate, env);
}

ExitCode MeasureStudents(const TeachOptions& options, const TaughtCases& cases, Budget& budget, Env& env) {
  EvalOptions eval = EvalOptionsOf(options);
  eval.skill = OutputOf(options);
  eval.tests = cases.to_measure;
  eval.models = options.students;
  eval.rounds = options.rounds;
  return RunEvalPart(eval, &budget, env).code;
}

}  // namespace

void AddTeachCommand(CLI::App& app, TeachOptions& options) {
  CLI::App* command =
      app.add_subcommand("teach", "Have a teacher solve cases, write a skill from its work, and measure it on students")
          ->group("Skills and traces");
  command->add_option("CASES", options.cases, "File of cases (docs/suites.md), which are done in workspaces")
      ->required();
  command->add_option("--task", options.task, "What the skill is for, in a sentence")->type_name("TASK");
  BeginGroup(*command, "Models");
  command->add_option("--teacher", options.teacher, "Model that solves the cases and writes the skill")
      ->required()
      ->type_name("MODEL");
  command->add_option("--student", options.students, "Model that the skill is measured on (repeatable)")
      ->required()
      ->type_name("MODEL");
  command->add_option("--base-url", options.base_urls, "OpenAI-compatible server for plain model names (repeatable)")
      ->type_name("URL");
  command->add_option("-j,--jobs", options.parallel, "Maximum concurrent requests per model")
      ->check(WholeNumber(1, 4096))
      ->type_name("N");
  BeginGroup(*command, "Measuring");
  command->add_option("--runs", options.rounds, "Rounds: how often students do each case in each arm")
      ->check(WholeNumber(1, 1000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-tokens", options.max_tokens, "Maximum tokens of an answer in a workspace")
      ->check(WholeNumber(1, 1 << 20))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-turns", options.workspace.max_turns, "Maximum answers of a model for a case")
      ->check(WholeNumber(1, 1000))
      ->default_str(fmt::format("{}", kDefaultTurns))
      ->type_name("N");
  command->add_option("--load", options.workspace.load, "How the skill reaches students: body or on-demand")
      ->check(CLI::IsMember({"body", "on-demand"}).description(""))
      ->capture_default_str()
      ->type_name("HOW");
  command->add_option("--max-cost", options.max_cost_usd, "Stop before exceeding this cost (USD), of everything")
      ->check(PositiveNumber())
      ->type_name("USD");
  AddSandboxOptions(*command, options.sandbox);
  BeginGroup(*command, "Output");
  command->add_option("-o,--output", options.output, "Folder of the new skill [default: named after the file of cases]")
      ->type_name("DIR");
  command->add_option("-d,--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("-q,--quiet", options.quiet, "Print no progress or notes");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Teach a cheap model what an expensive one finds out",
                          "upskill teach cases.json --teacher opus --student haiku"},
                         {"Say what the skill is for",
                          "upskill teach cases.json --teacher opus --student haiku --task 'Fill in forms'"}});
}

ExitCode RunTeach(const CLI::App& app, const TeachOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  std::error_code code;
  if (fs::exists(OutputOf(options), code)) {
    return PrintError(
        env, InputError(fmt::format(
                 "{0} exists; name another folder for the new skill with -o, or measure this one on more students with "
                 "`upskill eval {0}`",
                 OutputOf(options))));
  }
  if (const Status models = CheckModels(options, env); !models) return PrintError(env, models.error());
  const Result<TaughtCases> cases = DivideCases(options.cases, RunsFolder(options.runs_dir, *config));
  if (!cases) return PrintError(env, cases.error());
  RunLimits limits;
  limits.max_cost_usd = options.max_cost_usd;
  Budget budget(limits);
  const auto say = [&](const std::string& line) {
    if (!options.quiet) env.error(TerminalText::Format("{}\n", line));
  };
  say(fmt::format("solve    {}: {} in workspaces{}", options.teacher, Counted(cases->solved, "case"),
                  cases->same ? "; there are too few to hold some out, so students are measured on the same ones"
                              : fmt::format("; {} held out for the students", cases->measured)));
  const Result<JudgedRun> solved = Solve(options, *cases, *config, budget, env);
  if (!solved) return PrintError(env, solved.error());
  const ArmSummary& arm = solved->summary.students.front().arms.at(Arm::kBaseline);
  say(fmt::format("solved   {} of {} · run {}", arm.passed, arm.answered, solved->plan().run));
  std::optional<double> left = options.max_cost_usd;
  if (left) *left = std::max(0.0, *left - budget.spent().usd);
  const std::string run = (RunsFolder(options.runs_dir, *config) / solved->plan().run).string();
  const GenerateEnd distilled = Distil(app, options, run, *cases, left, env);
  if (distilled.code != ExitCode::kSuccess) return distilled.code;
  budget.Charge({0, distilled.spent_usd});
  return MeasureStudents(options, *cases, budget, env);
}

}  // namespace upskill
