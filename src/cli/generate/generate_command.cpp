// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/generate_command.h"

#include <CLI/CLI.hpp>

#include "cli/eval/option_row.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/options/python_options.h"
#include "skill/skill_text.h"

namespace upskill {
namespace {

void AddSourceOptions(CLI::App& command, GenerateCommandOptions& options) {
  command.add_option("TASK", options.task, "What the skill is for; may be left out with --from");
  BeginGroup(command, "Sources");
  command
      .add_option(
          "-f,--from", options.from,
          "Traces (files, folders, patterns or latest), a run whose workspaces show how cases were solved, or a skill "
          "folder to improve (repeatable)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  command.add_option("-e,--example", options.examples, "Example as 'input -> output' (repeatable)")
      ->allow_extra_args(false)
      ->type_name("EXAMPLE");
  command
      .add_option("--tool", options.tools,
                  "Tool of an MCP tools/list saved as JSON, FILE#NAME, of the server that a command starts, "
                  "mcp:COMMAND#NAME, or of the one at a URL, mcp:URL#NAME (repeatable)")
      ->allow_extra_args(false)
      ->type_name("TOOL");
  command
      .add_option("--mcp-env", options.mcp_env,
                  "Environment variable to pass to MCP servers: NAME, or NAME=VALUE (repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      .add_option("--mcp-header", options.mcp_headers,
                  "Header for MCP servers at URLs: 'NAME: VALUE', with environment variables as ${NAME} (repeatable)")
      ->allow_extra_args(false)
      ->type_name("HEADER");
  command
      .add_option("--mcp-timeout", options.mcp_timeout_seconds,
                  "Maximum time for an MCP server to list its tools, such as 30s or 5m")
      ->transform(Duration())
      ->default_str("2m")
      ->type_name("TIME");
  command.add_option("--docs", options.docs, "Text that the teacher should know (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.add_flag("--strict", options.strict, "Stop at a damaged record instead of skipping it");
  command.add_flag("--no-redact", options.no_redact, "Leave secrets in; only with a teacher on this machine");
  command.add_flag("--redact-home", options.hide_home, "Also hide the names of home folders");
  command.add_flag("--keep-emails", options.keep_emails, "Leave e-mail addresses of traces and documents in");
}

void AddGenerateModelOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Models");
  command
      .add_option("-m,--model", options.model,
                  "Teacher that writes the skill; desk:FOLDER: a person with a chat window")
      ->default_str("the configured one, else opus, if there is a key and --max-cost")
      ->type_name("MODEL");
  command.add_option("--test-gen-model", options.test_gen_model, "Model that writes the tests")
      ->default_str("the configured one, else the teacher")
      ->type_name("MODEL");
  command.add_option("--eval-model", options.eval_models, "Student to measure the skill on (repeatable)")
      ->allow_extra_args(false)
      ->default_str("the configured one, else a cheaper model of the teacher's provider, or the teacher")
      ->type_name("MODEL");
  command.add_option("--base-url", options.base_urls, "OpenAI-compatible server of the teacher")
      ->allow_extra_args(false)
      ->type_name("URL");
  command.add_option("--eval-base-url", options.eval_base_urls, "OpenAI-compatible server of the students")
      ->allow_extra_args(false)
      ->type_name("URL");
  command
      .add_option("--prompts", options.prompts,
                  "Folder with prompts that replace built-in ones; `upskill prompts` lists them")
      ->type_name("DIR");
  AddParallelOption(command, options.parallel, "-j,--jobs,--parallel,--max-parallel", "student");
  AddExecutorOption(command);
}

void AddSkillOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Skill");
  command.add_option("-o,--output", options.output, "Folder of the skill [default: skills_dir/NAME]")->type_name("DIR");
  command
      .add_option("--name", options.how.name,
                  "Name of the skill: lowercase letters, digits and hyphens [default: chosen by the teacher, or taken "
                  "from the task]")
      ->check(CLI::Validator(SkillNameProblem, ""))
      ->type_name("NAME");
  command.add_flag("--overwrite", options.overwrite,
                   "Replace another skill in the folder; its files are kept in the generation's folder");
  command
      .add_option(
          "--skill-tokens", options.how.target.tokens,
          "Target length of the skill's text, in tokens of the student if it runs in process; unless given, up to "
          "1000 to show small files whole")
      ->capture_default_str()
      ->check(WholeNumber(50, 20'000))
      ->type_name("N");
  command.add_flag("--no-critique", options.no_critique, "Skip the teacher's check and correction of its draft");
  command
      .add_option("--accept", options.accept,
                  "When to replace an existing skill: not-worse (a loss of more than --accept-margin is ruled out), "
                  "helps (the verdict), or any")
      ->capture_default_str()
      ->transform(OneOf({"helps", "not-worse", "any"}, {{"never-worse", "not-worse"}}))
      ->type_name("RULE");
  command
      .add_option("--accept-margin", options.accept_margin_points,
                  "Loss that --accept not-worse must rule out, in percentage points")
      ->capture_default_str()
      ->check(Number(0.1, 99.0))
      ->type_name("POINTS");
}

void AddTestOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Tests");
  command.add_option("-t,--tests", options.tests, "Cases to use as they are, instead of writing some")
      ->type_name("FILE");
  command.add_option("--cases", options.how.cases, "Cases to write")
      ->capture_default_str()
      ->check(WholeNumber(2, 200))
      ->type_name("N");
  command.add_option("--holdout", options.how.holdout, "Share of the cases held out for the final measurement")
      ->capture_default_str()
      ->check(Number(0.1, 0.9))
      ->type_name("SHARE");
  command.add_flag("--no-eval", options.no_eval, "Write skill and tests, and measure nothing");
}

void AddRefinementOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Refinement and measurement");
  command.add_option("--max-attempts", options.max_attempts, "Maximum attempts at refining")
      ->check(WholeNumber(0, 50))
      ->default_str("max_refine_attempts of the configuration, else 3")
      ->type_name("N");
  command.add_option("--candidates", options.how.candidates, "Changes tried per attempt")
      ->capture_default_str()
      ->check(WholeNumber(1, 20))
      ->type_name("N");
  command.add_option("--train-runs", options.how.train_rounds, "Rounds per candidate on the train cases")
      ->capture_default_str()
      ->check(WholeNumber(1, 100))
      ->type_name("N");
  command.add_option("--runs", options.how.runs, "Maximum rounds of the final measurement")
      ->capture_default_str()
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  command.add_option("--max-tokens", options.max_tokens, "Maximum tokens per answer of a student")
      ->capture_default_str()
      ->check(WholeNumber(1, 1'000'000))
      ->type_name("N");
  command.add_option("--temperature", options.temperature, "Sampling temperature of the students; 0 is greedy")
      ->check(Number(0.0, 2.0))
      ->default_str("the model's own")
      ->type_name("T");
  command.add_option("--seed", options.how.seed, "Random seed of split and sampling")
      ->capture_default_str()
      ->type_name("N");
}

void AddGenerateBudgetOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Budget");
  command.add_option("--max-cost", options.how.max_cost_usd, "Stop before exceeding this cost over all stages (USD)")
      ->check(Number(0.0))
      ->type_name("USD");
  command
      .add_option("--budget", options.how.context_tokens,
                  "Maximum tokens of material in one request to the teacher; traces that fit are sent whole [default: "
                  "what the teacher's context allows, at most 200000; 60000 if it is unknown]")
      ->check(WholeNumber(500, 1'000'000))
      ->type_name("N");
  command
      .add_option("--max-parts", options.max_parts,
                  "Maximum parts of 40,000 tokens in which the teacher reads traces beyond --budget, taking notes; "
                  "longer ones, or all with 1, are condensed without a model")
      ->capture_default_str()
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  command.add_flag("--dry-run", options.dry_run, "Print what would be done and its price, and stop");
}

void AddGenerationOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Runs and output");
  command
      .add_option("--resume", options.resume,
                  "Continue a generation: its name, the last 4 characters of its name, or latest")
      ->expected(0, 1)
      ->default_str("latest")
      ->type_name("ID");
  command.add_option("-d,--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command.add_flag("!--no-log-runs,--log-runs", options.log_runs,
                   "Keep nothing in the runs folder; the generation can't be resumed");
  command.add_flag("--no-ledger", options.no_ledger,
                   "Ignore earlier looks at the held-out tests, don't count this one, and use the whole of alpha");
  command.add_flag("-q,--quiet", options.quiet, "Print no progress");
  command.add_flag("--json", options.json, "Print the result as JSON");
  AddColorOption(command, options.color);
}

}  // namespace

void AddGenerateCommand(CLI::App& app, GenerateCommandOptions& options) {
  CLI::App* command = app.add_subcommand("generate", "Write a skill from traces or a task, and measure it on students")
                          ->group("Skills and traces");
  AddSourceOptions(*command, options);
  AddGenerateModelOptions(*command, options);
  AddSkillOptions(*command, options);
  AddTestOptions(*command, options);
  AddRefinementOptions(*command, options);
  AddGenerateBudgetOptions(*command, options);
  AddGenerationOptions(*command, options);
  AddExamples(*command, {{"Have it written in a chat window, without a key",
                          "upskill generate --from session.jsonl -m desk:desk"},
                         {"Let a teacher write it, for at most 2 dollars",
                          "upskill generate --from session.jsonl -m sonnet --eval-model haiku --max-cost 2"},
                         {"Improve a skill", "upskill generate --from skills/my-skill -m sonnet --eval-model haiku"},
                         {"Continue the latest generation", "upskill generate --resume"}});
  AddHelpNote(*command, "See also: upskill help model-strings, upskill help config, upskill help files");
}

}  // namespace upskill
