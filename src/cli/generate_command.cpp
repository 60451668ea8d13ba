// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_command.h"

#include <CLI/CLI.hpp>

#include "cli/color_option.h"

namespace upskill {

void AddGenerateCommand(CLI::App& app, GenerateCommandOptions& options) {
  CLI::App* command = app.add_subcommand("generate", "Write a skill from traces or a task, and measure it on students");
  command->add_option("TASK", options.task, "what the skill is for; may be left out with --from");
  command
      ->add_option("-f,--from", options.from, "traces (files, folders, patterns, latest), or a skill folder to improve")
      ->allow_extra_args(false);
  command->add_option("-e,--example", options.examples, "an example, 'input -> output'")->allow_extra_args(false);
  command
      ->add_option("--tool", options.tools,
                   "FILE#NAME: a tool of an MCP tools/list; mcp:COMMAND#NAME: of the server that COMMAND starts")
      ->allow_extra_args(false);
  command->add_option("--docs", options.docs, "a text that the teacher should know")->allow_extra_args(false);
  command->add_option(
      "-m,--model", options.model,
      "teacher; extract: none, the skill is taken from the trace (default: the configuration's, else extract)");
  command->add_option("--test-gen-model", options.test_gen_model,
                      "writes the tests (default: the configuration's, else the teacher); extract: none, they are "
                      "taken from the trace");
  command
      ->add_option("--eval-model", options.eval_models,
                   "student, repeatable (default: the configuration's, else the embedded model)")
      ->allow_extra_args(false);
  command->add_option("--base-url", options.base_urls, "server of the teacher")->allow_extra_args(false);
  command->add_option("--eval-base-url", options.eval_base_urls, "server of the students")->allow_extra_args(false);
  command->add_option("-t,--tests", options.tests, "cases to use as they are instead of writing some");
  command->add_option("-o,--output", options.output, "folder of the skill (default: below skills_dir)");
  command->add_option("--name", options.how.name, "name of the skill");
  command->add_flag("--no-eval", options.no_eval, "don't measure");
  command
      ->add_option("--skill-tokens", options.how.target.tokens,
                   "length of the skill's body, counted by the student's tokenizer where it is known")
      ->capture_default_str()
      ->check(CLI::Range(50, 20'000));
  command->add_option("--cases", options.how.cases, "tests to write")->capture_default_str()->check(CLI::Range(2, 200));
  command->add_option("--holdout", options.how.holdout, "share of the tests that only the last measurement sees")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 0.9));
  command->add_option("--candidates", options.how.candidates, "changes tried in one attempt")
      ->capture_default_str()
      ->check(CLI::Range(1, 20));
  command
      ->add_option("--max-attempts", options.max_attempts,
                   "attempts at refining (default: max_refine_attempts of the configuration, else 3)")
      ->check(CLI::Range(0, 50));
  command->add_option("--train-runs", options.how.train_rounds, "rounds of a candidate on the train tests")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--runs", options.how.runs, "most rounds of the last measurement")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--max-tokens", options.max_tokens, "most tokens of a student's answer")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--temperature", options.temperature, "of the students' answers (default: each model's own)")
      ->check(CLI::Range(0.0, 2.0));
  command->add_option("--budget", options.how.context_tokens, "tokens of material in one question to the teacher")
      ->capture_default_str()
      ->check(CLI::Range(500, 1'000'000));
  command->add_option("--accept", options.accept, "when an existing skill is replaced: helps, never-worse or any")
      ->capture_default_str();
  command->add_option("--max-cost", options.how.max_cost_usd, "US dollars for all stages together")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options.how.seed, "seed of split and sampling")->capture_default_str();
  command->add_option("-j,--parallel", options.parallel, "most answers in flight")->check(CLI::Range(1, 100'000));
  command->add_option("--runs-dir", options.runs_dir, "folder of runs and generations");
  command->add_flag("--log-runs,!--no-log-runs", options.log_runs,
                    "keep runs and generation in the runs folder (default: yes); without them nothing can be resumed");
  command->add_option("--resume", options.resume, "go on with a generation (latest, its name, or its last 4 digits)")
      ->expected(0, 1)
      ->default_str("latest");
  command->add_flag("--dry-run", options.dry_run, "print what would be done and its price");
  command->add_flag("--lenient", options.lenient, "keep what is readable of damaged traces");
  command->add_flag("--no-redact", options.no_redact, "leave secrets in; only with a teacher on this machine");
  command->add_flag("--json", options.json, "print the result as JSON");
  command->add_flag("-q,--quiet", options.quiet, "no progress on stderr");
  AddColorOption(*command, options.color);
}

}  // namespace upskill
