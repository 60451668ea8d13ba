// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <unordered_set>

#include "check/check.h"
#include "cli/color_option.h"
#include "cli/config.h"
#include "cli/students.h"
#include "eval/cache.h"
#include "eval/cell.h"
#include "eval/journal.h"
#include "eval/prompts.h"
#include "eval/summary.h"
#include "model/model_spec.h"
#include "report/eval_json.h"
#include "report/eval_text.h"
#include "report/progress_line.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kEvalRounds = 1;
constexpr int kBenchmarkRounds = 3;

// What is common to a new run and a resumed one.
struct Session {
  Plan plan;
  std::vector<std::unique_ptr<Model>> models;
  std::optional<Journal> journal;
  std::vector<Sample> resumed;
  std::vector<Sample> cached;
  fs::path runs_dir;
};

void AddSharedOptions(CLI::App& command, EvalOptions& options) {
  command.add_option("SKILL", options.skill, "skill folder, or its SKILL.md")->required();
  command.add_option("-t,--tests", options.tests, "cases to use instead of the skill's own skill_meta.json");
  command.add_flag("-v,--verbose", options.verbose, "show every case: outcomes, failed checks, a failing answer");
  command.add_flag("-q,--quiet", options.quiet, "no progress, no notes");
  command.add_flag("--json", options.json, "print the result as JSON (docs/output.md)");
  command.add_option("-j,--jobs", options.parallel, "answers in work at once (default: 32 in process)")
      ->check(CLI::Range(1, 128));
  command.add_option("--max-tokens", options.max_tokens, "longest answer")->capture_default_str()->check(CLI::Range(1, 1 << 20));
  command.add_option("--temperature", options.temperature, "sampling temperature; 0 is greedy")->capture_default_str()->check(CLI::Range(0.0, 5.0));
  command.add_option("--seed", options.seed, "seed of the run")->capture_default_str();
  command.add_flag("!--no-cache", options.use_cache, "ask again for cells that earlier runs answered");
  AddColorOption(command, options.color);
}

Result<Plan> MakePlan(const EvalOptions& options, const std::vector<std::string>& specs,
                      const std::vector<std::unique_ptr<Model>>& models, Env& env) {
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options.skill));
  Plan plan;
  ASSIGN_OR_RETURN(plan.suite, options.tests.empty() ? LoadSuiteOfSkill(skill.folder) : LoadSuite(options.tests));
  plan.skill = Snapshot(skill);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const ModelInfo& info = models[i]->info();
    plan.students.push_back({specs[i], info.name, info.identity});
  }
  if (!options.no_baseline) plan.arms.push_back(Arm::kBaseline);
  plan.arms.push_back(Arm::kSkill);
  plan.rounds = options.rounds;
  plan.sampling = {options.temperature, options.max_tokens, options.seed};
  plan.system_prompt = kSystemPrompt;
  ASSIGN_OR_RETURN(const std::vector<std::string> weaknesses, FindSuiteWeaknesses(plan.suite));
  if (!options.quiet) {
    for (const std::string& warning : skill.warnings) env.error(fmt::format("warning: {}\n", warning));
    for (const std::string& warning : plan.suite.warnings) env.error(fmt::format("warning: {}\n", warning));
    for (const std::string& warning : weaknesses) env.error(fmt::format("warning: {}\n", warning));
  }
  return plan;
}

// -m, else the configuration, else the embedded model.
std::vector<std::string> ChooseModels(const EvalOptions& options, const Config& config) {
  if (!options.models.empty()) return options.models;
  if (!config.eval_model.empty()) return {config.eval_model};
  if (!config.skill_generation_model.empty()) return {config.skill_generation_model};
  return {std::string(kEmbeddedModel)};
}

Result<std::vector<std::unique_ptr<Model>>> OpenModels(const std::vector<std::string>& specs, const EvalOptions& options, const Env& env) {
  std::vector<std::unique_ptr<Model>> models;
  for (const std::string& spec : specs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, OpenModel(spec, {options.parallel}, env));
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (models[i]->info().identity == model->info().identity) {
        return InputError(fmt::format("models '{}' and '{}' are the same", SafeForTerminalLine(specs[i]), SafeForTerminalLine(spec)));
      }
    }
    models.push_back(std::move(model));
  }
  return models;
}

Result<Session> NewSession(const EvalOptions& options, const Config& config, Env& env) {
  Session session;
  session.runs_dir = options.runs_dir.empty() ? config.runs_dir : fs::path(options.runs_dir);
  const std::vector<std::string> specs = ChooseModels(options, config);
  // The skill is read before a model is loaded: a slip in it should not cost a minute.
  RETURN_IF_ERROR(MakePlan(options, {}, {}, env));
  EvalOptions quiet = options;
  quiet.quiet = true;
  ASSIGN_OR_RETURN(session.models, OpenModels(specs, options, env));
  ASSIGN_OR_RETURN(session.plan, MakePlan(quiet, specs, session.models, env));
  if (options.use_cache) {
    std::unordered_set<std::string> wanted;
    for (const Cell& cell : CellsOf(session.plan)) wanted.insert(cell.key);
    ASSIGN_OR_RETURN(auto found, FindCachedSamples(session.runs_dir, wanted, ""));
    for (auto& [key, sample] : found) session.cached.push_back(std::move(sample));
  }
  if (options.log_runs) {
    ASSIGN_OR_RETURN(session.journal, Journal::Create(session.runs_dir, session.plan, *env.clock));
  }
  return session;
}

// What is given with --resume must be what the run began with: its plan decides.
Status CheckAgainstPlan(const EvalOptions& options, const Plan& plan, int default_rounds) {
  for (const std::string& model : options.models) {
    const bool known = std::any_of(plan.students.begin(), plan.students.end(), [&](const Student& student) { return student.spec == model; });
    if (!known) {
      return InputError(fmt::format("run {} has no model '{}'; start a new run for it", SafeForTerminalLine(plan.run), SafeForTerminalLine(model)));
    }
  }
  if (options.rounds != default_rounds && options.rounds != plan.rounds) {
    return InputError(fmt::format("run {} has {} rounds, not {}; a new run with --runs {} takes its answers from the cache",
                                  SafeForTerminalLine(plan.run), plan.rounds, options.rounds, options.rounds));
  }
  return {};
}

// Goes on with a run as its plan.json says; the skill on disk may have changed since.
Result<Session> ResumedSession(const EvalOptions& options, const Config& config, Env& env) {
  Session session;
  session.runs_dir = options.runs_dir.empty() ? config.runs_dir : fs::path(options.runs_dir);
  ASSIGN_OR_RETURN(const fs::path folder, ResolveRun(session.runs_dir, options.resume));
  ASSIGN_OR_RETURN(session.plan, LoadPlan(folder));
  RETURN_IF_ERROR(CheckAgainstPlan(options, session.plan, options.table_first ? kBenchmarkRounds : kEvalRounds));
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options.skill));
  if (skill.name != session.plan.skill.name) {
    return InputError(fmt::format("run {} is of the skill '{}', not '{}'", session.plan.run,
                                  SafeForTerminalLine(session.plan.skill.name), SafeForTerminalLine(skill.name)));
  }
  if (Snapshot(skill).sha256 != session.plan.skill.sha256 && !options.quiet) {
    env.error(fmt::format("note: the skill has changed since run {} began; the run goes on with the skill as it was\n", SafeForTerminalLine(session.plan.run)));
  }
  std::vector<std::string> specs;
  specs.reserve(session.plan.students.size());
  for (const Student& student : session.plan.students) specs.push_back(student.spec);
  ASSIGN_OR_RETURN(session.models, OpenModels(specs, options, env));
  for (std::size_t i = 0; i < session.models.size(); ++i) {
    if (session.models[i]->info().identity != session.plan.students[i].identity) {
      return InputError(fmt::format("model '{}' is not the one that run {} began with; start a new run",
                                    SafeForTerminalLine(specs[i]), session.plan.run));
    }
  }
  ASSIGN_OR_RETURN(session.journal, Journal::Reopen(folder, *env.clock));
  ASSIGN_OR_RETURN(JournalContent content, ReadJournal(folder));
  session.resumed = std::move(content.samples);
  return session;
}

// A word of a command line as a shell reads it back.
std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string ResumeLine(const EvalOptions& options, const Session& session) {
  std::string line = fmt::format("upskill {} {}", options.table_first ? "benchmark" : "eval", ShellWord(options.skill));
  for (const Student& student : session.plan.students) line += " -m " + ShellWord(student.spec);
  if (!options.runs_dir.empty()) line += " --runs-dir " + ShellWord(options.runs_dir);
  return SafeForTerminalLine(line + " --resume " + ShellWord(session.plan.run));
}

void PrintReuse(const Session& session, const RunOutcome& outcome, Env& env) {
  const RunProgress& progress = outcome.progress;
  if (progress.reused == 0) return;
  std::string where = "this run";
  if (session.resumed.empty()) {
    std::vector<std::string> runs;
    for (const Sample& sample : session.cached) {
      if (std::find(runs.begin(), runs.end(), sample.cached_from) == runs.end()) runs.push_back(sample.cached_from);
    }
    std::sort(runs.begin(), runs.end());
    where = runs.size() == 1 ? "run " + SafeForTerminalLine(runs.front()) : fmt::format("{} runs", runs.size());
    where = fmt::format("the cache ({})", where);
  }
  env.out(fmt::format("{} of {} cells from {}{}\n", progress.reused, progress.total, where,
                      progress.reused == progress.total ? ", nothing was asked of the model" : ""));
}

void PrintResult(const EvalOptions& options, const Session& session, const RunOutcome& outcome,
                 const RunSummary& summary, Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  if (options.json) {
    env.out(DumpJsonIndented(EvalToJson(session.plan, summary)) + "\n");
    return;
  }
  PrintReuse(session, outcome, env);
  if (options.verbose) env.out("\n" + EvalCases(session.plan, outcome.samples, style));
  const std::string table = EvalTable(summary, style);
  const std::string bars = EvalBars(summary, style);
  env.out("\n" + (options.table_first ? table + "\n" + bars : bars + table));
  const std::string notes = EvalCaseNotes(session.plan, summary);
  if (!notes.empty()) env.out("\n" + notes);
  if (session.journal) {
    env.out(fmt::format("run {} · {}\n", SafeForTerminalLine(session.plan.run),
                        SafeForTerminalLine(session.journal->folder().string())));
  }
}

ExitCode Conclude(const EvalOptions& options, const Session& session, const RunOutcome& outcome,
                  const RunSummary& summary, Env& env) {
  for (const std::string& stopped : outcome.stopped_models) {
    env.error(fmt::format("error: model {}\n", SafeForTerminalLine(stopped)));
  }
  if (summary.complete()) return ExitCode::kSuccess;
  const std::size_t left = summary.cells - summary.answered;
  std::string text = fmt::format("{} of {} cells saved, {} left", summary.answered, summary.cells, left);
  if (outcome.progress.errors > 0) text += fmt::format(" ({} with errors)", outcome.progress.errors);
  if (session.journal) text += ". Continue with:\n  " + ResumeLine(options, session);
  env.error(text + "\n");
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
}

void AddResumeOption(CLI::App& command, EvalOptions& options) {
  CLI::Option* resume =
      command.add_option("--resume", options.resume, "go on with a run: its name, its last 4 digits, or latest")
          ->expected(0, 1)
          ->default_str("latest");
  for (const char* decided_by_plan : {"--tests", "--seed", "--max-tokens", "--temperature"}) {
    resume->excludes(command.get_option(decided_by_plan));
  }
}

}  // namespace

void AddEvalCommand(CLI::App& app, EvalOptions& options) {
  CLI::App* command = app.add_subcommand("eval", "Measure a skill: run its cases on models with and without it");
  AddSharedOptions(*command, options);
  command->add_option("-m,--model,--m", options.models, "model to test; repeat for several (default: the embedded model)");
  command->add_option("--runs", options.rounds, "rounds: how often every case is answered in each arm")->capture_default_str()->check(CLI::Range(1, kMostRounds));
  command->add_flag("--no-baseline", options.no_baseline, "only the arm with the skill");
  command->add_flag("--log-runs,!--no-log-runs", options.log_runs, "write the run to the runs folder (default: yes)");
  command->add_option("--runs-dir", options.runs_dir, "runs folder (default: from the configuration, else ./runs)");
  AddResumeOption(*command, options);
}

void AddBenchmarkCommand(CLI::App& app, EvalOptions& options) {
  options.table_first = true;
  options.rounds = kBenchmarkRounds;
  CLI::App* command = app.add_subcommand("benchmark", "The same as eval with three rounds and the table first");
  AddSharedOptions(*command, options);
  command->add_option("-m,--model,--m", options.models, "model to test; repeat for several")->required();
  command->add_option("--runs", options.rounds, "rounds")->capture_default_str()->check(CLI::Range(1, kMostRounds));
  command->add_option("-o,--output,--runs-dir", options.runs_dir, "runs folder (default: from the configuration, else ./runs)");
  AddResumeOption(*command, options);
}

ExitCode RunEval(const EvalOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  Result<Session> session =
      options.resume.empty() ? NewSession(options, *config, env) : ResumedSession(options, *config, env);
  if (!session) return PrintError(env, session.error());
  if (!options.json) {
    env.out(EvalHead(session->plan, StyleFor(env, env.out_is_terminal, options.color)));
    for (const auto& model : session->models) {
      env.out(fmt::format("model  {} ({})\n", SafeForTerminalLine(model->info().name), SafeForTerminalLine(model->info().detail)));
    }
    if (options.models.empty() && options.resume.empty() && config->eval_model.empty() && config->skill_generation_model.empty()) {
      env.out("       no -m given: the embedded model is used\n");
    }
  }

  ProgressLine progress(StyleFor(env, env.error_is_terminal, options.color), env.error_is_terminal, env.error);
  RunInput input;
  input.plan = &session->plan;
  for (const auto& model : session->models) input.models.push_back(model.get());
  input.journal = session->journal ? &*session->journal : nullptr;
  input.resumed = session->resumed;
  input.cached = session->cached;
  input.stop = env.stop;
  input.clock = env.clock;
  if (!options.quiet) input.observer = &progress;
  const Result<RunOutcome> outcome = RunPlan(input);
  progress.Clear();
  if (!outcome) {
    PrintError(env, outcome.error());
    if (session->journal) {
      env.error(fmt::format("what was saved by then is kept; mend the cause and continue with:\n  {}\n", ResumeLine(options, *session)));
    }
    return ExitCode::kIncomplete;
  }
  const RunSummary summary = Summarize(session->plan, outcome->samples);
  PrintResult(options, *session, *outcome, summary, env);
  return Conclude(options, *session, *outcome, summary, env);
}

}  // namespace upskill
