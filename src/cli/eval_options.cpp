// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_options.h"

#include <CLI/CLI.hpp>

#include "cli/color_option.h"
#include "eval/plan.h"

namespace upskill {
namespace {

constexpr int kEvalRounds = 1;
constexpr int kBenchmarkRounds = 3;
constexpr int kDecidingRounds = 30;  // with --stop-when-decided the number is only a ceiling
constexpr int kMaxParallel = 4096;

void AddRunOptions(CLI::App& command, EvalOptions& options) {
  command.add_option("SKILL", options.skill, "skill folder, or its SKILL.md")->required();
  command.add_option("-t,--tests", options.tests, "cases to use instead of the skill's own skill_meta.json");
  command.add_option("--base-url", options.base_urls,
                     "OpenAI-compatible server to which plain model names go; repeat for a pool");
  command
      .add_option("-j,--jobs", options.parallel,
                  "answers in work at once (default: 32 in process, 64 over the network)")
      ->check(CLI::Range(1, kMaxParallel));
  command.add_option("--max-tokens", options.max_tokens, "longest answer")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command
      .add_option("--temperature", options.temperature,
                  "sampling temperature; 0 is greedy (default: the model's own; 0.7 in process)")
      ->check(CLI::Range(0.0, 5.0));
  command.add_option("--seed", options.seed, "seed of the run")->capture_default_str();
  command.add_flag("!--no-cache", options.use_cache,
                   "neither take answers from earlier runs nor offer these to later ones");
  command.add_flag("--refresh", options.refresh,
                   "ask again for what earlier runs answered; later runs take the new answers");
  command.add_flag(
      "--batch", options.batch,
      "through the provider's Batch API: half the price, done within a day; interrupt and --resume at will");
  command.add_option("--shard", options.shard, "K/N: only the K-th of N parts of the run; `upskill merge` joins them");
}

void AddVerdictOptions(CLI::App& command, EvalOptions& options) {
  command.add_flag("--placebo", options.placebo, "a further arm with an unrelated text of the skill's length");
  command.add_option("--against", options.against, "a further arm with another version of the skill (its folder)");
  command.add_flag("--stop-when-decided", options.stop_when_decided,
                   "end for each model after the round in which its verdict is known; --runs is then the most");
  command.add_option("--alpha", options.alpha, "chance of a false verdict")
      ->capture_default_str()
      ->check(CLI::Range(1e-6, 0.5));
  command.add_option("--min-lift", options.min_lift_points, "`helps` claims more than so many points")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 99.0));
  command.add_option("--margin", options.margin_points, "`no effect` means: surely within so many points of none")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 99.0));
  command.add_option("--gate", options.gate,
                     "conditions for exit code 0, such as 'helps:haiku; not-hurts:*; tokens<+20%'");
}

void AddLimitOptions(CLI::App& command, EvalOptions& options) {
  command.add_option("--max-cost", options.max_cost_usd, "stop before more than so many US dollars are spent")
      ->check(CLI::PositiveNumber);
  command.add_option("--max-tokens-total", options.max_tokens_total, "stop before more than so many tokens are used")
      ->check(CLI::PositiveNumber);
  for (const char* limit : {"--max-cost", "--max-tokens-total"})
    command.get_option(limit)->excludes(command.get_option("--batch"));
  command.add_option("--timeout", options.timeout_seconds, "stop after so long: 90, 90s, 10m, 2h")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::CASE_INSENSITIVE, "TIME"))
      ->check(CLI::PositiveNumber);
}

void AddOutputOptions(CLI::App& command, EvalOptions& options) {
  command.add_flag("-v,--verbose", options.verbose, "show every case: outcomes, failed checks, a failing answer");
  command.add_flag("-q,--quiet", options.quiet, "no progress, no notes");
  command.add_flag("--json", options.json, "print the result as JSON (docs/output.md)");
  AddColorOption(command, options.color);
}

void AddResumeOption(CLI::App& command, EvalOptions& options) {
  CLI::Option* resume =
      command.add_option("--resume", options.resume, "go on with a run: its name, its last 4 digits, or latest")
          ->expected(0, 1)
          ->default_str("latest");
  for (const char* decided_by_plan :
       {"--tests", "--seed", "--max-tokens", "--temperature", "--placebo", "--against", "--shard", "--alpha",
        "--min-lift", "--margin", "--stop-when-decided", "--no-cache", "--refresh"}) {
    resume->excludes(command.get_option(decided_by_plan));
  }
}

}  // namespace

int EvalOptions::default_rounds() const {
  if (stop_when_decided) return kDecidingRounds;
  return table_first ? kBenchmarkRounds : kEvalRounds;
}

void AddEvalCommand(CLI::App& app, EvalOptions& options) {
  CLI::App* command = app.add_subcommand("eval", "Measure a skill: run its cases on models with and without it");
  AddRunOptions(*command, options);
  command->add_option("-m,--model,--m", options.models,
                      "model to test; repeat for several (default: the embedded model)");
  command->add_option("--runs", options.rounds, "rounds: how often every case is answered in each arm (default: 1)")
      ->check(CLI::Range(1, kMaxRounds));
  command->add_flag("--no-baseline", options.no_baseline, "without the arm that has no skill");
  command->add_flag("--log-runs,!--no-log-runs", options.log_runs, "write the run to the runs folder (default: yes)");
  command->add_option("--runs-dir", options.runs_dir, "runs folder (default: from the configuration, else ./runs)");
  AddVerdictOptions(*command, options);
  AddLimitOptions(*command, options);
  AddOutputOptions(*command, options);
  AddResumeOption(*command, options);
}

void AddBenchmarkCommand(CLI::App& app, EvalOptions& options) {
  options.table_first = true;
  CLI::App* command = app.add_subcommand("benchmark", "The same as eval with three rounds and the table first");
  AddRunOptions(*command, options);
  command->add_option("-m,--model,--m", options.models, "model to test; repeat for several")->required();
  command->add_option("--runs", options.rounds, "rounds (default: 3)")->check(CLI::Range(1, kMaxRounds));
  command->add_option("-o,--output,--runs-dir", options.runs_dir,
                      "runs folder (default: from the configuration, else ./runs)");
  AddVerdictOptions(*command, options);
  AddLimitOptions(*command, options);
  AddOutputOptions(*command, options);
  AddResumeOption(*command, options);
}

}  // namespace upskill
