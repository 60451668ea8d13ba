// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/env/config.h"
#include "cli/eval/eval_command.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/option_row.h"
#include "cli/eval/workspace_option.h"
#include "cli/generate/commands.h"
#include "cli/generate/generate_command.h"
#include "cli/generate/generate_place.h"
#include "cli/generate/generate_run.h"
#include "cli/generate/teach_state.h"
#include "cli/models/models_by_key.h"
#include "cli/models/sandbox_option.h"
#include "cli/models/students.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/runs_folder.h"
#include "measure/workspace.h"
#include "skill/skill_text.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

struct TeachOptions {
  std::string cases;
  std::string task;
  std::string teacher;
  std::vector<std::string> students;
  std::vector<std::string> base_urls;
  std::string output;  // the skill's folder; empty: named after the cases or the task
  int rounds = 1;
  int max_tokens = 4096;
  int parallel = 0;
  WorkspaceChoice workspace;
  SandboxChoice sandbox;
  std::optional<double> max_cost_usd;
  std::string runs_dir;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

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
  ASSIGN_OR_RETURN(const Folder runs, MakeRunsFolder(runs_dir));
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

// What would end a later step, after the others were paid for.
Status CheckModels(const TeachOptions& options, const Env& env) {
  ModelOptions model_options;
  model_options.base_urls = options.base_urls;
  model_options.client = std::make_shared<HttpClient>();
  model_options.quiet = options.quiet;
  RETURN_IF_ERROR(CheckCanTeach(options.teacher, model_options, env));
  std::vector<std::unique_ptr<Model>> students;
  for (const std::string& spec : options.students) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> student, OpenModel(spec, model_options, env));
    if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*student, spec));
    RETURN_IF_ERROR(CheckCanAct(*student));
    students.push_back(std::move(student));
  }
  return CheckModelsDiffer(students, options.students);
}

Result<std::string> OutputOf(const TeachOptions& options) {
  if (!options.output.empty()) return options.output;
  const std::string stem = SkillNameFrom(fs::path(options.cases).stem().string());
  if (!SaysNothing(stem)) return stem;
  if (!options.task.empty()) return SkillNameFrom(options.task);
  return InputError(fmt::format(
      "{}: its name says nothing about the skill, whose folder is named after it; name the folder with -o, or say with "
      "--task what the skill is for",
      options.cases));
}

// The steps of `teach`: those that an earlier time has finished aren't done again.
class Teaching {
 public:
  Teaching(const TeachOptions& options, const Config& config, TaughtCases cases, std::string output, TeachState state,
           Env& env)
      : options_(options),
        config_(config),
        cases_(std::move(cases)),
        output_(std::move(output)),
        state_(std::move(state)),
        budget_(LimitsOf(options)),
        env_(env) {
    // What was spent before counts under the limit.
    if (options.max_cost_usd)
      budget_.Charge({0, state_.SpentOn(state_.solve_run()) + state_.SpentOn(state_.measure_run(Settings()))});
  }

  ExitCode Run() {
    const bool is_known = state_.is_written() && fs::exists(fs::path(output_) / "SKILL.md");
    if (is_known) {
      Say(fmt::format("skill    {} was written by the same command before{}", output_,
                      state_.is_measured(Settings()) ? ", and measured: this is its result" : ""));
    } else {
      const Result<JudgedRun> solved = Solve();
      if (!solved) return PrintError(env_, solved.error());
      const ArmSummary& arm = solved->summary.students.front().arms.at(Arm::kBaseline);
      Say(fmt::format("solved   {} of {} · run {}", arm.passed, arm.answered, solved->plan().run));
      const ExitCode distilled = Distil(solved->plan().run);
      if (distilled != ExitCode::kSuccess) return distilled;
    }
    return MeasureStudents();
  }

 private:
  static RunLimits LimitsOf(const TeachOptions& options) {
    RunLimits limits;
    limits.max_cost_usd = options.max_cost_usd;
    return limits;
  }

  void Say(const std::string& line) const {
    if (!options_.quiet) env_.error(TerminalText::Format("{}\n", line));
  }

  // What the students' run depends on, besides the cases.
  Json Settings() const {
    const Result<std::string> skill = ReadFile(fs::path(output_) / "SKILL.md");
    return {{"students", options_.students},     {"rounds", options_.rounds},
            {"load", options_.workspace.load},   {"max_turns", options_.workspace.max_turns.value_or(kDefaultTurns)},
            {"max_tokens", options_.max_tokens}, {"skill", skill ? Sha256Hex(*skill) : ""}};
  }

  // The teacher's own run, without a skill.
  Result<JudgedRun> Solve() {
    Say(fmt::format("solve    {}: {} in workspaces{}", options_.teacher, Counted(cases_.solved, "case"),
                    cases_.same ? "; there are too few to hold some out, so students are measured on the same ones"
                                : fmt::format("; {} held out for the students", cases_.measured)));
    EvalOptions eval = EvalOptionsOf(options_);
    eval.tests = cases_.to_solve;
    eval.models = {options_.teacher};
    eval.workspace.load = "body";
    eval.ledger = false;
    eval.resume = state_.solve_run();
    ASSIGN_OR_RETURN(const MeasureSpec spec, SpecWithoutSkill(eval, config_));
    EvalUse use;
    use.budget = &budget_;
    use.on_run = [this](const std::string& run) { return state_.NoteSolveRun(run); };
    return RunEvalQuietly(spec, eval, config_, use, env_);
  }

  ExitCode Distil(const std::string& run) {
    GenerateCommandOptions generate;
    generate.task = options_.task;
    generate.from = {(RunsFolder(options_.runs_dir, config_) / run).string()};
    generate.model = options_.teacher;
    generate.base_urls = options_.base_urls;
    generate.tests = cases_.to_solve;
    generate.no_eval = true;
    generate.output = output_;
    generate.runs_dir = options_.runs_dir;
    if (options_.max_cost_usd) generate.how.max_cost_usd = std::max(0.0, *options_.max_cost_usd - budget_.spent().usd);
    generate.quiet = options_.quiet;
    generate.color = options_.color;
    // To resume one, these count as named again.
    generate.resume = state_.generation();
    generate.given = {"--output"};
    if (!options_.base_urls.empty()) generate.given.insert("--base-url");
    if (options_.max_cost_usd) generate.given.insert("--max-cost");
    const GenerateEnd end = RunGenerateAsPart(
        std::move(generate), [this](const std::string& id) { return state_.NoteGeneration(id); }, env_);
    if (end.code != ExitCode::kSuccess) return end.code;
    budget_.Charge({0, end.spent_usd});
    if (const Status noted = state_.NoteWritten(); !noted) return PrintError(env_, noted.error());
    return ExitCode::kSuccess;
  }

  ExitCode MeasureStudents() {
    const Json settings = Settings();
    EvalOptions eval = EvalOptionsOf(options_);
    eval.skill = output_;
    eval.tests = cases_.to_measure;
    eval.models = options_.students;
    eval.rounds = options_.rounds;
    eval.resume = state_.measure_run(settings);
    EvalUse use;
    use.budget = &budget_;
    use.on_run = [this, &settings](const std::string& run) {
      return state_.is_measured(settings) ? Status() : state_.NoteMeasureRun(settings, run);
    };
    const ExitCode code = RunEvalPart(eval, use, env_).code;
    if (code != ExitCode::kSuccess) return code;
    if (const Status noted = state_.NoteMeasured(settings); !noted) return PrintError(env_, noted.error());
    return code;
  }

  const TeachOptions& options_;
  const Config& config_;
  const TaughtCases cases_;
  const std::string output_;
  TeachState state_;
  Budget budget_;
  Env& env_;
};

// The models that aren't named: those of the configuration, else those that a key makes possible, within --max-cost.
Status ChooseTeachModels(TeachOptions& options, const Config& config, Env& env) {
  if (options.teacher.empty()) options.teacher = config.skill_generation_model;
  if (options.students.empty() && !config.eval_model.empty()) options.students = {config.eval_model};
  if (!options.teacher.empty() && !options.students.empty()) return {};
  const std::optional<ModelsByKey> by_key = FindModelsByKey(env);
  if (!by_key || !options.max_cost_usd) {
    return InputError(
        by_key ? fmt::format("name the models with --teacher and --student; with the key from {}: --teacher {} "
                             "--student {} --max-cost 5",
                             by_key->source, by_key->teacher, by_key->student)
               : "name the models with --teacher and --student; `upskill models` lists them");
  }
  if (options.teacher.empty()) options.teacher = by_key->teacher;
  if (options.students.empty()) options.students = {by_key->student};
  if (!options.quiet) {
    env.error(TerminalText::Format("using {} to teach {}, with the key from {}; others: --teacher, --student\n",
                                   options.teacher, TerminalText::Join(options.students, ", "), by_key->source));
  }
  return {};
}

// Refuses a skill that is there and isn't this command's own.
Status CheckPlace(const std::string& output, const TeachState& state) {
  std::error_code code;
  if (!fs::exists(output, code) || !state.generation().empty()) return {};
  return InputError(fmt::format(
      "{0} exists; name another folder for the new skill with -o, or measure this one on more students with "
      "`upskill eval {0}`",
      output));
}

void AddTeachCommand(CLI::App& app, TeachOptions& options) {
  CLI::App* command =
      app.add_subcommand("teach", "Have a teacher solve cases, write a skill from its work, and measure it on students")
          ->group("Skills and traces");
  command->add_option("CASES", options.cases, "File of cases (docs/suites.md), which are done in workspaces")
      ->required();
  command->add_option("--task", options.task, "What the skill is for, in a sentence")->type_name("TASK");
  BeginGroup(*command, "Models");
  command->add_option("--teacher", options.teacher, "Model that solves the cases and writes the skill")
      ->default_str("the configured one, else opus, if there is a key and --max-cost")
      ->type_name("MODEL");
  command->add_option("--student", options.students, "Model that the skill is measured on (repeatable)")
      ->default_str("the configured one, else haiku, if there is a key and --max-cost")
      ->type_name("MODEL");
  command->add_option("--base-url", options.base_urls, "OpenAI-compatible server for plain model names (repeatable)")
      ->type_name("URL");
  AddParallelOption(*command, options.parallel);
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
      ->transform(OneOf({"body", "on-demand"}))
      ->capture_default_str()
      ->type_name("HOW");
  command->add_option("--max-cost", options.max_cost_usd, "Stop before exceeding this cost (USD), of everything")
      ->check(PositiveNumber())
      ->type_name("USD");
  AddSandboxOptions(*command, options.sandbox);
  AddMcpOptions(*command, options.workspace.mcp);
  BeginGroup(*command, "Output");
  command
      ->add_option("-o,--output", options.output,
                   "Folder of the new skill [default: named after the file of cases, or after the task]")
      ->type_name("DIR");
  command->add_option("-d,--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("-q,--quiet", options.quiet, "Print no progress or notes");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Teach a cheap model what an expensive one finds out",
                          "upskill teach reports.json --teacher opus --student haiku"},
                         {"Say what the skill is for",
                          "upskill teach forms.json --teacher opus --student haiku --task 'Fill in forms'"}});
}

// Has the teacher solve some of the cases in workspaces, write a skill from how it did, and measures what the skill
// does for the students on the other cases. The same command continues what was interrupted, and prints the result
// again of what was finished.
ExitCode RunTeach(const TeachOptions& given, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  TeachOptions options = given;
  if (const Status chosen = ChooseTeachModels(options, *config, env); !chosen) return PrintError(env, chosen.error());
  const Result<std::string> output = OutputOf(options);
  if (!output) return PrintError(env, output.error());
  if (const Status models = CheckModels(options, env); !models) return PrintError(env, models.error());
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  Result<TaughtCases> cases = DivideCases(options.cases, runs_dir);
  if (!cases) return PrintError(env, cases.error());
  const Json inputs = {{"teacher", options.teacher},
                       {"task", options.task},
                       {"output", *output},
                       {"max_turns", options.workspace.max_turns.value_or(kDefaultTurns)},
                       {"max_tokens", options.max_tokens}};
  Result<Folder> folder = Folder::Open(fs::path(cases->to_solve).parent_path());
  if (!folder) return PrintError(env, folder.error());
  Result<TeachState> state = TeachState::Open(*std::move(folder), runs_dir, inputs);
  if (!state) return PrintError(env, state.error());
  if (const Status place = CheckPlace(*output, *state); !place) return PrintError(env, place.error());
  return Teaching(options, *config, *std::move(cases), *output, *std::move(state), env).Run();
}

}  // namespace

Command TeachCommand() { return CommandOf({"teach"}, AddTeachCommand, RunTeach); }

}  // namespace upskill
