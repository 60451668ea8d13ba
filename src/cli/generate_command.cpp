// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/color_option.h"
#include "cli/generate_session.h"
#include "cli/help_formatter.h"
#include "cli/option_checks.h"
#include "report/eval_json.h"
#include "report/eval_text.h"
#include "report/progress_line.h"
#include "teach/generate.h"
#include "teach/result_files.h"
#include "trace/digest/digest.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

std::string Shown(const std::string& text) { return SafeForTerminalLine(text); }

std::string PriceText(const Model& model) {
  if (model.info().local) return "local, no price";
  if (!model.info().price) return "price unknown";
  return fmt::format("${:.2f} in, ${:.2f} out per million tokens", model.info().price->input,
                     model.info().price->output);
}

void PrintDryRun(const GenerateSession& session, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const Material& material = session.sources.material;
  const std::size_t tokens = EstimateTokens(ItemsText(material, 0, material.items.size()) + TaskText(material));
  env.out(fmt::format("material  {} items, about {} tokens, {} requests of the person\n", material.items.size(),
                      WithThousands(static_cast<long long>(tokens)), material.requests.size()));
  if (session.teacher_model) {
    const std::size_t context = options.how.context_tokens;
    const auto attempts = static_cast<std::size_t>(options.how.attempts);
    const std::size_t pieces = tokens <= context ? 0 : tokens / context + 1;
    const std::size_t calls = 2 + pieces + attempts;
    const std::size_t in = calls * std::min(tokens, context) + attempts * context / 2;
    const std::size_t out = calls * 3000;
    env.out(fmt::format("teacher   {} ({}): at most about {} calls, {} tokens in, {} out", Shown(session.teacher_spec),
                        PriceText(*session.teacher_model), calls, WithThousands(static_cast<long long>(in)),
                        WithThousands(static_cast<long long>(out))));
    if (session.teacher_model->info().price) {
      Usage usage;
      usage.input = static_cast<std::int64_t>(in);
      usage.output = static_cast<std::int64_t>(out);
      env.out(fmt::format(", about ${:.2f}", CostUsd(*session.teacher_model->info().price, usage)));
    }
    env.out("\n");
  } else {
    env.out("teacher   none: the skill is taken from the material, word for word\n");
  }
  const auto held_out = static_cast<std::size_t>(options.how.holdout * static_cast<double>(options.how.cases));
  const std::size_t test = std::max<std::size_t>(1, held_out);
  const std::size_t train = std::max<std::size_t>(1, options.how.cases - test);
  const std::size_t changes =
      session.teacher_model ? static_cast<std::size_t>(options.how.attempts) * options.how.candidates : 0;
  const std::size_t cells = (2 + changes) * train * static_cast<std::size_t>(options.how.train_rounds) +
                            2 * test * static_cast<std::size_t>(options.how.runs);
  for (const auto& model : session.student_models) {
    env.out(fmt::format("student   {} ({}): at most about {} answers\n", Shown(model->info().name), PriceText(*model),
                        cells));
  }
  env.out("nothing was asked of any model\n");
}

Json CostToJson(const StageCost& cost) {
  return {{"calls", cost.calls},
          {"prompt_tokens", cost.prompt_tokens},
          {"output_tokens", cost.output_tokens},
          {"cost_usd", cost.usd ? Json(*cost.usd) : Json(nullptr)}};
}

Json OutcomeToJson(const GenerateSession& session, const GenerateOutcome& outcome, const std::string& folder,
                   const std::string& reason, const GenerationFacts& facts) {
  Json json = {{"generation", session.id},
               {"skill", folder},
               {"accepted", reason.empty()},
               {"refused_because", reason.empty() ? Json(nullptr) : Json(reason)},
               {"generated_by", session.teacher_spec},
               {"cases", outcome.cases.size()},
               {"test_cases", outcome.test.size()},
               {"rejected_cases", outcome.rejected_cases.size()},
               {"candidates", outcome.candidates.size()},
               {"chosen", outcome.candidates[outcome.chosen].id},
               {"tokens", outcome.candidates[outcome.chosen].tokens},
               {"contradicted_rules", outcome.contradicted_rules},
               {"student_calls", outcome.student_calls},
               {"full_student_calls", outcome.full_student_calls},
               {"stopped", outcome.stopped.empty() ? Json(nullptr) : Json(outcome.stopped)},
               {"stages", {{"teacher", Json::object()}, {"student", Json::object()}}},
               {"result", nullptr}};
  for (const auto& [stage, cost] : facts.teachers) json["stages"]["teacher"][stage] = CostToJson(cost);
  for (const auto& [stage, cost] : facts.students) json["stages"]["student"][stage] = CostToJson(cost);
  if (outcome.measured) json["result"] = EvalToJson(outcome.measured->judged);
  return json;
}

// "1 call, 100 tokens in, 50 out, $0.0100".
std::string CostText(const StageCost& cost, const char* one) {
  const std::string usd = !cost.usd ? ", cost unknown" : *cost.usd > 0 ? fmt::format(", ${:.4f}", *cost.usd) : "";
  return fmt::format("{} {}{}, {} tokens in, {} out{}", WithThousands(static_cast<long long>(cost.calls)), one,
                     cost.calls == 1 ? "" : "s", WithThousands(cost.prompt_tokens), WithThousands(cost.output_tokens),
                     usd);
}

void PrintCosts(const GenerateOutcome& outcome, const GenerationFacts& facts, Env& env) {
  double usd = 0.0;
  bool known = true;
  const auto print = [&](const char* who, const char* stage, const char* one,
                         const std::map<std::string, StageCost>& stages) {
    const auto found = stages.find(stage);
    if (found == stages.end()) return;
    const StageCost& cost = found->second;
    if (cost.calls > 0) env.out(fmt::format("{} {:<7} {}\n", who, stage, CostText(cost, one)));
    known = known && cost.usd;
    usd += cost.usd.value_or(0.0);
  };
  for (const char* stage : {"digest", "draft", "cases", "refine", "tests: digest", "tests: cases"})
    print("teacher", stage, "call", facts.teachers);
  for (const char* stage : {"train", "screen", "test"}) print("student", stage, "answer", facts.students);
  if (outcome.full_student_calls > 0) {
    env.out(fmt::format(
        "to find the best candidate the students gave {} answers, {:.0f} % of the {} of measuring every one in full\n",
        outcome.student_calls,
        100.0 * static_cast<double>(outcome.student_calls) / static_cast<double>(outcome.full_student_calls),
        outcome.full_student_calls));
  }
  if (usd > 0) env.out(fmt::format("spent {}${:.4f}\n", known ? "" : "at least ", usd));
}

void PrintHowToResume(const GenerateSession& session, Env& env) {
  if (session.options.log_runs) env.error(fmt::format("Continue with:\n  {}\n", ResumeLine(session)));
}

// What is said first: whether the skill helps.
std::string Headline(const GenerateOutcome& outcome) {
  if (!outcome.measured) {
    return outcome.cases.empty() ? "not measured: no sound test case could be made from this" : "not measured";
  }
  std::string text;
  const JudgedRun& judged = outcome.measured->judged;
  for (std::size_t i = 0; i < judged.verdicts.size(); ++i) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", Shown(judged.summary.students[i].student.name),
                        VerdictName(judged.verdicts[i].word));
  }
  return text;
}

GenerationFacts FactsOf(const GenerateSession& session, const Env& env) {
  GenerationFacts facts;
  facts.id = session.id;
  facts.version = UPSKILL_VERSION;
  facts.generated_by = session.teacher_spec;
  facts.test_gen_model = session.given ? "given" : session.test_teacher_spec;
  facts.generated_at = UtcTimestamp(env.clock->WallNow());
  facts.task = session.sources.material.task;
  facts.sources = session.sources.names;
  if (session.teacher) facts.teachers = session.teacher->costs();
  if (session.test_teacher) {
    for (const auto& [stage, cost] : session.test_teacher->costs()) facts.teachers["tests: " + stage] = cost;
  }
  facts.students = StudentCosts(session);
  return facts;
}

// Where the skill went, and why not where it should have gone.
struct Placing {
  fs::path target;
  fs::path previous;   // the files that it replaced; empty: none
  std::string reason;  // why it was not accepted; empty: it was
};

Result<Placing> Place(const GenerateSession& session, const GenerateOutcome& outcome, const GenerationFacts& facts) {
  const SkillText& skill = outcome.candidates[outcome.chosen].skill;
  Placing placing;
  const fs::path folder = OutputFolder(session, skill.name);
  ASSIGN_OR_RETURN(const AcceptRule rule, AcceptRuleFromName(session.options.accept));
  placing.reason = ReasonToRefuse(outcome, rule);
  if (placing.reason.empty() && IsTaken(session, folder))
    placing.reason = fmt::format("{} holds another skill (to improve it: --from)", Shown(folder.string()));
  placing.target = placing.reason.empty() ? folder : session.folder / skill.name;  // gone at the end with --no-log-runs
  if (placing.reason.empty()) {
    ASSIGN_OR_RETURN(placing.previous, KeepPrevious(session, folder));
  }
  RETURN_IF_ERROR(BringExistingFiles(session, placing.target));
  RETURN_IF_ERROR(WriteGeneratedSkill(outcome, facts, placing.target));
  return placing;
}

// `estimated`: the tokens of the skill are.
void PrintOutcome(const GenerateSession& session, const GenerateOutcome& outcome, const GenerationFacts& facts,
                  const Placing& placing, bool estimated, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const Candidate& chosen = outcome.candidates[outcome.chosen];
  env.out(Headline(outcome) + "\n");
  if (!placing.reason.empty()) {
    env.out(fmt::format("the existing skill stays as it is: {}{}\n", placing.reason,
                        options.log_runs ? "" : "; the new one isn't kept (--no-log-runs)"));
  }
  if (chosen.kind == "existing") env.out("no candidate was better: the skill's text stays as it is\n");
  if (!placing.previous.empty()) env.out(fmt::format("the files before  {}\n", Shown(placing.previous.string())));
  if (session.teacher_spec == kExtract)
    env.out("no model wrote this skill: it is taken from the material, word for word\n");
  env.out(fmt::format("skill  {} · {}{} tokens · {}\n", Shown(placing.target.string()), estimated ? "about " : "",
                      chosen.tokens, Shown(chosen.skill.name)));
  env.out(fmt::format("tests  {} sound, {} rejected; {} held out\n", outcome.cases.size(),
                      outcome.rejected_cases.size(), outcome.test.size()));
  if (outcome.uncited_rules > 0)
    env.out(fmt::format("{} rules without proof in the material were left out\n", outcome.uncited_rules));
  for (const std::string& rule : outcome.contradicted_rules)
    env.out(fmt::format("left out, the material says otherwise: {}\n", Shown(rule)));
  if (outcome.measured)
    env.out("\n" + EvalBars(outcome.measured->judged, StyleFor(env, env.out_is_terminal, options.color)));
  PrintCosts(outcome, facts, env);
  env.out(fmt::format("generation {} · {}\n", session.id, Shown((placing.target / "lineage.json").string())));
}

ExitCode Finish(const GenerateSession& session, const GenerateOutcome& outcome, bool estimated, Env& env) {
  const GenerationFacts facts = FactsOf(session, env);
  const Result<Placing> placing = Place(session, outcome, facts);
  if (!placing) return PrintError(env, placing.error());
  if (session.options.json) {
    env.out(DumpJsonIndented(OutcomeToJson(session, outcome, placing->target.string(), placing->reason, facts)) + "\n");
  } else {
    PrintOutcome(session, outcome, facts, *placing, estimated, env);
  }
  if (outcome.interrupted || !outcome.stopped.empty()) {
    env.error(fmt::format("stopped early: {}\n", Shown(outcome.stopped)));
    if (!outcome.cases.empty()) PrintHowToResume(session, env);
    return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
  }
  return ExitCode::kSuccess;
}

void AddSourceOptions(CLI::App& command, GenerateCommandOptions& options) {
  command.add_option("TASK", options.task, "What the skill is for; may be left out with --from");
  BeginGroup(command, "Sources");
  command
      .add_option("-f,--from", options.from,
                  "Traces (files, folders, patterns or latest), or a skill folder to improve (repeatable)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  command.add_option("-e,--example", options.examples, "Example as 'input -> output' (repeatable)")
      ->allow_extra_args(false)
      ->type_name("EXAMPLE");
  command
      .add_option("--tool", options.tools,
                  "Tool of an MCP tools/list saved as JSON, FILE#NAME, or of the server that a command starts, "
                  "mcp:COMMAND#NAME (repeatable)")
      ->allow_extra_args(false)
      ->type_name("TOOL");
  command.add_option("--docs", options.docs, "Text that the teacher should know (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  command.add_flag("--lenient", options.lenient, "Keep what is readable of damaged traces");
  command.add_flag("--no-redact", options.no_redact, "Leave secrets in; only with a teacher on this machine");
}

void AddGenerateModelOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Models");
  command
      .add_option("-m,--model", options.model,
                  "Teacher that writes the skill; extract: none, it is taken from the trace word for word")
      ->default_str("the configured one, else extract")
      ->type_name("MODEL");
  command
      .add_option("--test-gen-model", options.test_gen_model,
                  "Model that writes the tests; extract: none, they are taken from the trace")
      ->default_str("the configured one, else the teacher")
      ->type_name("MODEL");
  command.add_option("--eval-model", options.eval_models, "Student to measure the skill on (repeatable)")
      ->allow_extra_args(false)
      ->default_str("the configured one, else the embedded model")
      ->type_name("MODEL");
  command.add_option("--base-url", options.base_urls, "OpenAI-compatible server of the teacher")
      ->allow_extra_args(false)
      ->type_name("URL");
  command.add_option("--eval-base-url", options.eval_base_urls, "OpenAI-compatible server of the students")
      ->allow_extra_args(false)
      ->type_name("URL");
  command.add_option("-j,--jobs,--parallel", options.parallel, "Maximum concurrent requests per student")
      ->check(WholeNumber(1, 100'000))
      ->default_str("64 over the network, 32 in process")
      ->type_name("N");
}

void AddSkillOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Skill");
  command.add_option("-o,--output", options.output, "Folder of the skill [default: skills_dir/NAME]")->type_name("DIR");
  command.add_option("--name", options.how.name, "Name of the skill")->type_name("NAME");
  command
      .add_option("--skill-tokens", options.how.target.tokens,
                  "Target length of the skill's text, in tokens of the student if it runs in process")
      ->capture_default_str()
      ->check(WholeNumber(50, 20'000))
      ->type_name("N");
  command
      .add_option("--accept", options.accept,
                  "When to replace an existing skill: never-worse, helps (the verdict), or any")
      ->capture_default_str()
      ->transform(OneOf({"helps", "never-worse", "any"}))
      ->type_name("RULE");
}

void AddTestOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Tests");
  command.add_option("-t,--tests", options.tests, "Cases to use as they are, instead of writing tests")
      ->type_name("FILE");
  command.add_option("--cases", options.how.cases, "Tests to write")
      ->capture_default_str()
      ->check(WholeNumber(2, 200))
      ->type_name("N");
  command.add_option("--holdout", options.how.holdout, "Share of the tests held out for the final measurement")
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
  command.add_option("--train-runs", options.how.train_rounds, "Rounds per candidate on the tests to refine on")
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
      .add_option("--budget", options.how.context_tokens, "Maximum tokens of material in one request to the teacher")
      ->capture_default_str()
      ->check(WholeNumber(500, 1'000'000))
      ->type_name("N");
  command.add_flag("--dry-run", options.dry_run, "Print what would be done and its price, and stop");
}

void AddGenerationOptions(CLI::App& command, GenerateCommandOptions& options) {
  BeginGroup(command, "Runs and output");
  command.add_option("--resume", options.resume, "Continue a generation: its name, its last 4 digits, or latest")
      ->expected(0, 1)
      ->default_str("latest")
      ->type_name("ID");
  command.add_option("--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command.add_flag("!--no-log-runs,--log-runs", options.log_runs,
                   "Keep nothing in the runs folder; the generation can't be resumed");
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
  AddExamples(*command, {{"Take a skill from a session word for word, without a teacher",
                          "upskill generate --from session.jsonl -m extract"},
                         {"Let a teacher write it, for at most 2 dollars",
                          "upskill generate --from session.jsonl -m sonnet --eval-model haiku --max-cost 2"},
                         {"Improve a skill", "upskill generate --from skills/my-skill -m sonnet --eval-model haiku"},
                         {"Continue the latest generation", "upskill generate --resume"}});
  AddHelpNote(*command, "See also: upskill help model-strings, upskill help config, upskill help files");
}

ExitCode RunGenerate(GenerateCommandOptions options, const std::vector<std::string>& arguments, Env& env) {
  GenerateSession session;
  session.options = std::move(options);
  if (const Status opened = OpenGeneration(session, arguments, env); !opened) return PrintError(env, opened.error());
  if (!session.options.quiet) {
    for (const std::string& line : session.sources.told) env.error(line + "\n");
    for (const std::string& warning : session.sources.warnings) env.error(fmt::format("warning: {}\n", warning));
    if (!session.sources.redactions.empty()) env.error(session.sources.redactions + "\n");
  }
  if (session.options.dry_run) {
    PrintDryRun(session, env);
    return ExitCode::kSuccess;
  }
  ProgressLine progress(StyleFor(env, env.error_is_terminal, session.options.color), env.error_is_terminal, env.error);
  GenerateInput input = InputOf(session, env);
  if (!session.options.quiet) input.trials.observer = &progress;
  Result<AppendFile> trials = AppendFile::Open(session.folder / kTrialsFile, true);
  if (!trials) return PrintError(env, trials.error());
  input.trials.on_run = [&](const std::string& stage, const std::string& run) {
    static_cast<void>(trials->Append(stage + " " + run + "\n"));
  };
  input.say = [&](const std::string& line) {
    progress.Clear();
    if (!session.options.quiet) env.error(SafeForTerminalLine(line) + "\n");
  };
  const Result<GenerateOutcome> outcome = GenerateSkill(input);
  progress.Clear();
  if (!outcome) {
    const ExitCode code = PrintError(env, outcome.error());
    PrintHowToResume(session, env);
    return outcome.error().kind == ErrorKind::kCancelled ? ExitCode::kInterrupted : code;
  }
  return Finish(session, *outcome, input.options.target.estimated, env);
}

}  // namespace upskill
