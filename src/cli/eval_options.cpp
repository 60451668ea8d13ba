// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_options.h"

#include <CLI/CLI.hpp>

#include "cli/color_option.h"
#include "cli/help_formatter.h"
#include "cli/judge_option.h"
#include "cli/matrix_output.h"
#include "cli/option_checks.h"
#include "cli/parallel_option.h"
#include "cli/python_options.h"
#include "cluster/job_record.h"
#include "eval/gate.h"
#include "eval/plan.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kEvalRounds = 1;
constexpr int kBenchmarkRounds = 3;
constexpr int kDecidingRounds = 30;  // with --stop-when-decided the number is only a ceiling

void AddModelOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Models");
  CLI::Option* models =
      command.add_option("-m,--model,--m", options.models, "Model to measure (repeatable)")->type_name("MODEL");
  if (options.table_first) {
    models->required();
  } else {
    models->default_str("the configured one, else the default model");
  }
  command
      .add_option("--base-url", options.base_urls,
                  "OpenAI-compatible server for plain model names (repeatable, makes a pool)")
      ->type_name("URL");
  AddParallelOption(command, options.parallel, "-j,--jobs,--max-parallel");
  AddExecutorOption(command);
  command.add_flag("--batch", options.batch, "Submit to the provider's Batch API: half the price, within a day");
}

void AddCaseOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Cases and arms");
  command.add_option("-t,--tests", options.tests, "Cases to use instead of the skill's own")->type_name("FILE");
  if (!options.table_first) {
    command
        .add_option("--changed-since", options.changed_since,
                    "Only the skills whose files, or cases given by -t, differ from this commit, branch or tag of git")
        ->type_name("REF");
  }
  command
      .add_option("--test-gen-model", options.test_gen_model,
                  "Model that writes the cases of a skill without any, into its tests.json")
      ->type_name("MODEL");
  command.add_option("--runs", options.rounds, "Rounds: how often each case is answered in each arm")
      ->check(WholeNumber(1, kMaxRounds))
      ->default_str(options.table_first ? "3" : "1")
      ->type_name("N");
  if (!options.table_first) command.add_flag("--no-baseline", options.no_baseline, "Leave out the arm without a skill");
  command.add_flag("--placebo", options.placebo, "Add an arm with an unrelated text of the skill's length");
  command.add_option("--against", options.against, "Add an arm with another version of the skill")->type_name("DIR");
  AddJudgeOption(command, options.judge_model);
  AddSandboxOptions(command, options.sandbox);
  command.add_option("--shard", options.shard, "Run only the K-th of N parts; `upskill merge` merges them")
      ->type_name("K/N");
}

void AddJobOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Jobs elsewhere");
  CLI::Option* on =
      command
          .add_option("--on", options.on,
                      "Run the shards as jobs: slurm[:PARTITION], kubernetes[:NAMESPACE] or hf[:NAMESPACE/BUCKET]")
          ->type_name("SYSTEM");
  command.add_option("--shards", options.shards, "Number of jobs that the run is divided among")
      ->check(WholeNumber(1, kMaxShards))
      ->needs(on)
      ->type_name("N");
  command
      .add_option("--job-option", options.job_options,
                  "NAME=VALUE for the job system, for each job, such as gres=gpu:1 or time=2:00:00 (repeatable)")
      ->needs(on)
      ->type_name("OPTION");
}

void AddSamplingOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Sampling");
  command.add_option("--max-tokens", options.max_tokens, "Maximum tokens per answer")
      ->capture_default_str()
      ->check(WholeNumber(1, 1 << 20))
      ->type_name("N");
  command.add_option("--temperature", options.temperature, "Sampling temperature; 0 is greedy")
      ->check(Number(0.0, 5.0))
      ->default_str("the model's own, 0.7 in process")
      ->type_name("T");
  command.add_option("--seed", options.seed, "Random seed of the run")->capture_default_str()->type_name("N");
}

// The others are looked at with the run's models; an empty one would be taken for none.
std::string NotAnEmptyGate(const std::string& text) {
  if (!Trim(text).empty()) return "";
  return ParseGate(text).error().message;
}

void AddVerdictOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Verdict");
  command.add_flag("--stop-when-decided", options.stop_when_decided,
                   "Stop a model once its verdicts and the gate's contrasts are decided; --runs becomes the maximum "
                   "(30 if not given)");
  command.add_option("--alpha", options.alpha, "Accepted chance of a false verdict")
      ->capture_default_str()
      ->check(Number(1e-6, 0.5))
      ->type_name("P");
  command.add_option("--min-lift", options.min_lift_points, "Lift that `helps` must exceed, in percentage points")
      ->capture_default_str()
      ->check(Number(0.0, 99.0))
      ->type_name("POINTS");
  command.add_option("--margin", options.margin_points, "Equivalence margin of `no effect`, in percentage points")
      ->capture_default_str()
      ->check(Number(0.1, 99.0))
      ->type_name("POINTS");
  command
      .add_option("--gate", options.gate,
                  "Exit with 1 unless every clause holds, such as 'helps:*; tokens<+20%' (`upskill help exit-codes`)")
      ->check(CLI::Validator(NotAnEmptyGate, ""))
      ->type_name("CLAUSES");
}

void AddBudgetOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Budget");
  command.add_option("--max-cost", options.max_cost_usd, "Stop before exceeding this cost (USD)")
      ->check(PositiveNumber())
      ->type_name("USD");
  command.add_option("--max-tokens-total", options.max_tokens_total, "Stop before exceeding this many tokens in all")
      ->check(WholeNumber(1))
      ->type_name("N");
  for (const char* limit : {"--max-cost", "--max-tokens-total"})
    command.get_option(limit)->excludes(command.get_option("--batch"));
  command.add_option("--timeout", options.timeout_seconds, "Stop after this time, such as 90s, 10m or 2h")
      ->transform(Duration())
      ->type_name("TIME");
}

void AddStorageOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Runs and cache");
  CLI::Option* resume = command
                            .add_option("--resume", options.resume,
                                        "Continue a run: its name, the last 4 characters of its name, or latest")
                            ->expected(0, 1)
                            ->default_str("latest")
                            ->type_name("RUN");
  command.add_flag("--refresh", options.refresh, "Request cached answers again; later runs use the new ones");
  command
      .add_option("--cache-from", options.cache_from, "Also use cached answers of the runs in this folder (repeatable)")
      ->type_name("DIR");
  command.add_flag("!--no-cache", options.use_cache,
                   "Don't use cached answers, and don't add this run's answers to the cache");
  if (!options.table_first)
    command.add_flag("!--no-log-runs,--log-runs", options.log_runs, "Keep nothing of the run in the runs folder");
  command.add_flag("!--no-ledger", options.ledger,
                   "Ignore earlier looks at these tests, don't count this one, and use the whole of alpha");
  command
      .add_option(options.table_first ? "-d,--runs-dir,-o,--output" : "-d,--runs-dir", options.runs_dir,
                  "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  for (const char* decided_by_plan :
       {"--tests", "--seed", "--max-tokens", "--temperature", "--placebo", "--against", "--shard", "--alpha",
        "--min-lift", "--margin", "--stop-when-decided", "--no-cache", "--refresh", "--no-ledger"}) {
    resume->excludes(command.get_option(decided_by_plan));
  }
  if (!options.table_first) resume->excludes(command.get_option("--no-baseline"));
}

void AddOutputOptions(CLI::App& command, EvalOptions& options) {
  BeginGroup(command, "Output");
  command.add_flag("-v,--verbose", options.verbose, "Show every case: outcomes, failed checks, a failing answer");
  command.add_flag("-q,--quiet", options.quiet, "Print no progress, notes or warnings about the suite");
  command.add_flag("--json", options.json, "Print the result as JSON");
  if (!options.table_first) AddMatrixOutputOption(command, options.output);
  AddColorOption(command, options.color);
}

// The options of `eval`, and with `table_first` of `benchmark`.
void AddOptions(CLI::App& command, EvalOptions& options) {
  if (options.table_first) {
    command.add_option("SKILL", options.skill, "Skill folder, or its SKILL.md")->required();
  } else {
    command.add_option("SKILL", options.skills, "Skill folders, or their SKILL.md: an ordinary run for each")
        ->required();
  }
  AddModelOptions(command, options);
  AddCaseOptions(command, options);
  std::vector<std::string> of_plan = AddWorkspaceOptions(command, options.workspace);
  if (!options.table_first) AddJobOptions(command, options);
  AddSamplingOptions(command, options);
  AddVerdictOptions(command, options);
  AddBudgetOptions(command, options);
  AddStorageOptions(command, options);
  if (!options.table_first) {
    for (std::string& option : AddActivationOptions(command, options.activation)) of_plan.push_back(std::move(option));
  }
  for (const std::string& option : of_plan) command.get_option("--resume")->excludes(command.get_option(option));
  AddOutputOptions(command, options);
}

}  // namespace

int EvalOptions::default_rounds() const {
  if (stop_when_decided) return kDecidingRounds;
  return table_first ? kBenchmarkRounds : kEvalRounds;
}

void AddEvalCommand(CLI::App& app, EvalOptions& options) {
  CLI::App* command =
      app.add_subcommand("eval", "Measure a skill: ask its cases with and without it")->group("Measure skills");
  AddOptions(*command, options);
  AddExamples(*command, {{"Measure a skill on the default model", "upskill eval path/to/skill --runs 3"},
                         {"Compare two models, for at most 2 dollars",
                          "upskill eval path/to/skill -m haiku -m sonnet --runs 5 --max-cost 2"},
                         {"Measure all skills on two models, for at most 5 dollars together",
                          "upskill eval skills/* -m haiku -m sonnet --max-cost 5"},
                         {"Measure in eight Slurm jobs, each with a GPU",
                          "upskill eval path/to/skill --runs 50 --on slurm --shards 8 --job-option gres=gpu:1"},
                         {"Continue the latest run", "upskill eval path/to/skill --resume"}});
  AddHelpNote(
      *command,
      "See also: upskill help model-strings, upskill help files, upskill help verdicts, upskill help exit-codes");
}

void AddBenchmarkCommand(CLI::App& app, EvalOptions& options) {
  options.table_first = true;
  CLI::App* command =
      app.add_subcommand("benchmark", "Like eval, with three rounds by default and the comparison table first")
          ->group("Measure skills");
  AddOptions(*command, options);
  AddExamples(*command,
              {{"Compare three models", "upskill benchmark path/to/skill -m haiku -m sonnet -m kimi"},
               {"Keep the run elsewhere", "upskill benchmark path/to/skill -m haiku --runs 10 -d /tmp/runs"}});
  AddHelpNote(
      *command,
      "See also: upskill help model-strings, upskill help files, upskill help verdicts, upskill help exit-codes");
}

}  // namespace upskill
