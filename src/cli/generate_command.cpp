// SPDX-License-Identifier: Apache-2.0
#include "cli/generate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "cli/color_option.h"
#include "cli/config.h"
#include "cli/eval_session.h"
#include "cli/generate_sources.h"
#include "cli/students.h"
#include "eval/journal.h"
#include "report/eval_json.h"
#include "report/eval_text.h"
#include "report/progress_line.h"
#include "teach/generate.h"
#include "teach/result_files.h"
#include "teach/teacher.h"
#include "trace/digest.h"
#include "trace/redact.h"
#include "util/files.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtract = "extract";

std::string Shown(const std::string& text) { return SafeForTerminalLine(text); }

// Everything that a generation works with.
struct Session {
  GenerateCommandOptions options;
  Config config;
  fs::path runs_dir;
  fs::path folder;  // runs_dir/generations/<time>-<4 hex>
  std::string id;
  GenerateSources sources;
  std::string teacher_spec;  // "extract": none
  std::string test_teacher_spec;
  std::unique_ptr<Model> teacher_model;
  std::unique_ptr<Model> test_teacher_model;
  std::optional<Teacher> teacher;
  std::optional<Teacher> test_teacher;
  std::vector<std::string> student_specs;
  std::vector<std::unique_ptr<Model>> student_models;
  std::optional<Suite> given;
};

// "latest", a folder's name, or its last 4 digits.
Result<fs::path> FindGeneration(const fs::path& generations, const std::string& name) {
  std::vector<fs::path> all;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(generations, code)) {
    if (fs::exists(entry.path() / "generation.json", code)) all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  for (const fs::path& path : all) {
    const std::string folder = path.filename().string();
    if (name == "latest" || name == folder || (name.size() == 4 && folder.ends_with("-" + name))) return path;
  }
  return Error{ErrorKind::kNotFound, fmt::format("no generation '{}' below {}", Shown(name), Shown(generations.string()))};
}

Status NewFolder(Session& session, const std::vector<std::string>& arguments, const Env& env) {
  const auto now = env.clock->WallNow();
  const auto ticks = static_cast<std::uint64_t>(now.time_since_epoch().count());
  session.id = fmt::format("{}-{:04x}", FolderTimestamp(now), Rng(ticks ^ SeedFromText(session.options.task)).Next() & 0xFFFFU);
  session.folder = session.runs_dir / "generations" / session.id;
  RETURN_IF_ERROR(MakeFolders(session.folder));
  Json words = Json::array();
  Redactor redactor({});
  for (const std::string& argument : arguments) words.push_back(session.options.no_redact ? argument : redactor.Apply(argument));
  const Json json = {{"schema", 1}, {"arguments", words}, {"material", MaterialToJson(session.sources.material)}, {"sources", session.sources.names}};
  return WriteFileAtomically(session.folder / "generation.json", DumpJsonIndented(json) + "\n");
}

// The models are opened before anything is written, so that a wrong name costs nothing.
Status OpenModels(Session& session, const Env& env) {
  const GenerateCommandOptions& options = session.options;
  const auto client = std::make_shared<HttpClient>();
  ModelOptions teacher_options;
  teacher_options.base_urls = options.base_urls;
  teacher_options.client = client;
  ModelOptions student_options;
  student_options.parallel = options.parallel;
  student_options.base_urls = options.eval_base_urls;
  student_options.client = client;
  if (session.teacher_spec != kExtract) {
    ASSIGN_OR_RETURN(session.teacher_model, OpenModel(session.teacher_spec, teacher_options, env));
  }
  if (!session.test_teacher_spec.empty() && session.test_teacher_spec != session.teacher_spec && session.test_teacher_spec != kExtract) {
    ASSIGN_OR_RETURN(session.test_teacher_model, OpenModel(session.test_teacher_spec, teacher_options, env));
  }
  if (options.no_eval) return {};
  for (const std::string& spec : session.student_specs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, OpenModel(spec, student_options, env));
    session.student_models.push_back(std::move(model));
  }
  return {};
}

void ChooseSpecs(Session& session) {
  const GenerateCommandOptions& options = session.options;
  session.teacher_spec = !options.model.empty() ? options.model : session.config.skill_generation_model;
  if (session.teacher_spec.empty()) session.teacher_spec = kExtract;
  session.test_teacher_spec = !options.test_gen_model.empty() ? options.test_gen_model : session.config.test_gen_model;
  Config students = session.config;
  students.skill_generation_model.clear();  // a teacher is no student
  session.student_specs = ChooseModels(options.eval_models, students);
}

// Where the skill goes, and whether something is there already that it doesn't come from.
Result<fs::path> OutputFolder(const Session& session, const std::string& name) {
  const GenerateCommandOptions& options = session.options;
  if (!options.output.empty()) return fs::path(options.output);
  if (session.sources.material.has_existing()) {
    for (const std::string& from : options.from) {
      std::error_code code;
      if (fs::exists(fs::path(from) / "SKILL.md", code)) return fs::path(from);
      if (fs::path(from).filename() == "SKILL.md") return fs::path(from).parent_path();
    }
  }
  return session.config.skills_dir / name;
}

bool IsTaken(const Session& session, const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder / "SKILL.md", code)) return false;
  for (const std::string& from : session.options.from) {
    if (fs::equivalent(from, folder, code) || fs::equivalent(fs::path(from).parent_path(), folder, code)) return false;
  }
  // A generation that goes on may find its own skill there.
  const Result<std::string> meta = ReadFile(folder / "skill_meta.json");
  return !meta || session.id.empty() || meta->find(session.id) == std::string::npos;
}

double SpentBefore(const Session& session) {
  const Result<std::string> text = ReadFile(session.folder / "trials.txt");
  double usd = 0.0;
  if (!text) return usd;
  for (const std::string_view line : SplitLines(*text)) {
    const Result<fs::path> run = ResolveRun(session.runs_dir, std::string(line));
    const Result<JournalContent> content = run ? ReadJournal(*run) : Result<JournalContent>(run.error());
    if (!content) continue;
    for (const Sample& sample : content->samples) {
      if (sample.ok() && sample.cached_from.empty()) usd += sample.response.cost_usd.value_or(0.0);
    }
  }
  return usd;
}

std::string PriceText(const Model& model) {
  if (model.info().local) return "local, no price";
  if (!model.info().price) return "price unknown";
  return fmt::format("${:.2f} in, ${:.2f} out per million tokens", model.info().price->input, model.info().price->output);
}

void PrintDryRun(const Session& session, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const Material& material = session.sources.material;
  const std::size_t tokens = EstimateTokens(ItemsText(material, 0, material.items.size()) + TaskText(material));
  env.out(fmt::format("material  {} items, about {} tokens, {} requests of the person\n", material.items.size(),
                      WithThousands(static_cast<long long>(tokens)), material.requests.size()));
  if (session.teacher_model) {
    const std::size_t pieces = tokens <= static_cast<std::size_t>(options.budget) ? 0 : tokens / static_cast<std::size_t>(options.budget) + 1;
    const std::size_t calls = 2 + pieces + static_cast<std::size_t>(options.attempts);
    const std::size_t in = calls * std::min(tokens, static_cast<std::size_t>(options.budget)) + static_cast<std::size_t>(options.attempts * options.budget / 2);
    const std::size_t out = calls * 3000;
    env.out(fmt::format("teacher   {} ({}): at most about {} calls, {} tokens in, {} out", Shown(session.teacher_spec), PriceText(*session.teacher_model), calls,
                        WithThousands(static_cast<long long>(in)), WithThousands(static_cast<long long>(out))));
    if (session.teacher_model->info().price) {
      Usage usage;
      usage.input = static_cast<std::int64_t>(in);
      usage.output = static_cast<std::int64_t>(out);
      env.out(fmt::format(", about ${:.2f}", CostUsd(*session.teacher_model->info().price, usage)));
    }
    env.out("\n");
  } else {
    env.out("teacher   none: the skill is taken from the trace, word for word\n");
  }
  const int train = std::max(1, static_cast<int>((1.0 - options.holdout) * options.cases));
  const int test = std::max(1, options.cases - train);
  for (const auto& model : session.student_models) {
    const int candidates = 1 + (session.teacher_model ? options.attempts * options.candidates : 0);
    const int cells = 2 * train * options.train_runs + (candidates - 1) * train * options.train_runs + 2 * test * options.runs;
    env.out(fmt::format("student   {} ({}): at most about {} answers\n", Shown(model->info().name), PriceText(*model), cells));
  }
  env.out("nothing was asked of any model\n");
}

Json OutcomeToJson(const Session& session, const GenerateOutcome& outcome, const std::string& folder, bool accepted, const std::string& reason,
                   const std::map<std::string, StageCost>& stages) {
  Json json = {{"generation", session.id}, {"skill", folder}, {"accepted", accepted}, {"refused_because", reason.empty() ? Json(nullptr) : Json(reason)},
               {"generated_by", session.teacher_spec}, {"cases", outcome.cases.size()}, {"test_cases", outcome.test.size()},
               {"rejected_cases", outcome.rejected_cases.size()}, {"candidates", outcome.candidates.size()},
               {"chosen", outcome.candidates[outcome.chosen].id}, {"tokens", outcome.candidates[outcome.chosen].tokens},
               {"student_calls", outcome.student_calls}, {"full_student_calls", outcome.full_student_calls},
               {"stopped", outcome.stopped.empty() ? Json(nullptr) : Json(outcome.stopped)}, {"stages", Json::object()}, {"result", nullptr}};
  for (const auto& [stage, cost] : stages) {
    json["stages"][stage] = {{"calls", cost.calls}, {"prompt_tokens", cost.prompt_tokens}, {"output_tokens", cost.output_tokens},
                             {"cost_usd", cost.usd ? Json(*cost.usd) : Json(nullptr)}};
  }
  if (outcome.measured) json["result"] = EvalToJson(outcome.measured->judged);
  return json;
}

void PrintCosts(const GenerateOutcome& outcome, const std::map<std::string, StageCost>& stages, Env& env) {
  double usd = outcome.trial_usd;
  bool known = true;
  for (const auto& [stage, cost] : stages) {
    env.out(fmt::format("teacher {:<7} {} calls, {} tokens in, {} out{}\n", stage, cost.calls, WithThousands(cost.prompt_tokens), WithThousands(cost.output_tokens),
                        cost.usd ? *cost.usd > 0 ? fmt::format(", ${:.4f}", *cost.usd) : "" : ", cost unknown"));
    known = known && cost.usd;
    usd += cost.usd.value_or(0.0);
  }
  if (outcome.full_student_calls > 0) {
    env.out(fmt::format("students        {} answers on train, {:.0f} % of the {} of measuring every candidate in full; {} tokens in all\n", outcome.student_calls,
                        100.0 * static_cast<double>(outcome.student_calls) / static_cast<double>(outcome.full_student_calls), outcome.full_student_calls,
                        WithThousands(outcome.trial_tokens)));
  }
  if (usd > 0) env.out(fmt::format("spent {}${:.4f}\n", known ? "" : "at least ", usd));
}

// What is said first: whether the skill helps.
std::string Headline(const GenerateOutcome& outcome) {
  if (!outcome.measured) {
    return outcome.cases.empty() ? "not measured: no sound test case could be made from this" : "not measured";
  }
  std::string text;
  const JudgedRun& judged = outcome.measured->judged;
  for (std::size_t i = 0; i < judged.verdicts.size(); ++i) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", Shown(judged.summary.students[i].student.name), VerdictName(judged.verdicts[i].word));
  }
  return text;
}

Status LoadResumed(GenerateCommandOptions& options, Session& session, const Config& config) {
  const fs::path runs_dir = options.runs_dir.empty() ? config.runs_dir : fs::path(options.runs_dir);
  ASSIGN_OR_RETURN(session.folder, FindGeneration(runs_dir / "generations", options.resume));
  const std::string file = (session.folder / "generation.json").string();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  if (JsonGet<int>(json, "schema", 0) != 1 || !json.contains("arguments") || !json.contains("material")) {
    return InputError(fmt::format("{}: not a generation that this version can go on with", Shown(file)));
  }
  std::vector<std::string> arguments;
  for (const Json& word : json.at("arguments")) {
    if (word.is_string()) arguments.push_back(word);
  }
  GenerateCommandOptions stored;
  CLI::App app("", "upskill");
  AddGenerateCommand(app, stored);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return InputError(fmt::format("{}: its command line can't be read: {}", Shown(file), error.what()));
  }
  stored.runs_dir = options.runs_dir.empty() ? stored.runs_dir : options.runs_dir;
  if (options.max_cost_usd) stored.max_cost_usd = options.max_cost_usd;
  stored.json = options.json;
  stored.quiet = options.quiet;
  stored.color = options.color;
  stored.resume = options.resume;
  options = stored;
  session.id = session.folder.filename().string();
  ASSIGN_OR_RETURN(session.sources.material, MaterialFromJson(json.at("material"), Shown(file)));
  for (const Json& name : json.value("sources", Json::array())) session.sources.names.push_back(name);
  return {};
}

Status Prepare(Session& session, const std::vector<std::string>& arguments, Env& env) {
  ASSIGN_OR_RETURN(session.config, LoadConfig(env));
  GenerateCommandOptions& options = session.options;
  const bool resumed = !options.resume.empty();
  if (resumed) RETURN_IF_ERROR(LoadResumed(options, session, session.config));
  session.runs_dir = options.runs_dir.empty() ? session.config.runs_dir : fs::path(options.runs_dir);
  RETURN_IF_ERROR(AcceptRuleFromName(options.accept));
  ChooseSpecs(session);
  RETURN_IF_ERROR(OpenModels(session, env));
  if (options.no_redact) {
    const bool local = (!session.teacher_model || session.teacher_model->info().local) && (!session.test_teacher_model || session.test_teacher_model->info().local);
    RETURN_IF_ERROR(AllowWithoutRedaction(local));
  }
  if (options.max_cost_usd) {
    for (const Model* model : {session.teacher_model.get(), session.test_teacher_model.get()}) {
      if (model != nullptr && !model->info().local && !model->info().price) return InputError(fmt::format("the price of {} isn't known, so --max-cost can't hold", Shown(model->info().name)));
    }
    for (const auto& model : session.student_models) {
      if (!model->info().local && !model->info().price) return InputError(fmt::format("the price of {} isn't known, so --max-cost can't hold", Shown(model->info().name)));
    }
  }
  if (!options.tests.empty()) {
    ASSIGN_OR_RETURN(session.given, LoadSuite(options.tests));
  }
  if (!resumed) {
    ASSIGN_OR_RETURN(session.sources, ReadSources(options, options.no_redact, env));
    if (session.teacher_spec == kExtract && session.sources.material.items.empty()) {
      return InputError("without a teacher model (-m, or skill_generation_model in the configuration) a skill can only be taken from a trace: give --from");
    }
    if (!options.output.empty() || !options.name.empty()) {
      ASSIGN_OR_RETURN(const fs::path output, OutputFolder(session, options.name));
      if (IsTaken(session, output)) return InputError(fmt::format("{} holds a skill already; to improve it give --from {}", Shown(output.string()), Shown(output.string())));
    }
    if (!options.dry_run) RETURN_IF_ERROR(NewFolder(session, arguments, env));
  }
  if (options.dry_run) return {};
  if (session.teacher_model) {
    ASSIGN_OR_RETURN(session.teacher, Teacher::Open(*session.teacher_model, session.folder / "teacher.jsonl"));
  }
  if (session.test_teacher_model) {
    ASSIGN_OR_RETURN(session.test_teacher, Teacher::Open(*session.test_teacher_model, session.folder / "test_teacher.jsonl"));
  }
  return {};
}

GenerateInput InputOf(Session& session, ProgressLine& progress, Env& env) {
  const GenerateCommandOptions& options = session.options;
  GenerateInput input;
  input.material = &session.sources.material;
  input.options.name = options.name;
  if (input.options.name.empty() && !options.output.empty()) input.options.name = SkillNameFrom(fs::path(options.output).filename().string());
  input.options.skill_tokens = static_cast<std::size_t>(options.skill_tokens);
  input.options.cases = static_cast<std::size_t>(options.cases);
  input.options.holdout = options.holdout;
  input.options.candidates = static_cast<std::size_t>(options.candidates);
  input.options.attempts = options.attempts;
  input.options.train_rounds = options.train_runs;
  input.options.runs = options.runs;
  input.options.context_tokens = static_cast<std::size_t>(options.budget);
  input.options.seed = options.seed;
  input.options.max_cost_usd = options.max_cost_usd;
  input.options.evaluate = !options.no_eval;
  if (session.teacher) input.teacher = &*session.teacher;
  if (session.test_teacher) input.test_teacher = &*session.test_teacher;
  input.given = session.given;
  for (std::size_t i = 0; i < session.student_models.size(); ++i) {
    input.trials.models.push_back(session.student_models[i].get());
    input.trials.students.push_back({session.student_specs[i], session.student_models[i]->info().name, session.student_models[i]->info().identity});
  }
  input.trials.runs_dir = session.runs_dir;
  input.trials.sampling.max_tokens = options.max_tokens;
  input.trials.sampling.temperature = options.temperature;
  input.trials.sampling.seed = options.seed;
  input.trials.clock = env.clock;
  input.trials.stop = env.stop;
  if (!options.quiet) input.trials.observer = &progress;
  input.spent_usd = SpentBefore(session);
  return input;
}

ExitCode Finish(Session& session, const GenerateOutcome& outcome, Env& env) {
  const GenerateCommandOptions& options = session.options;
  const SkillText& skill = outcome.candidates[outcome.chosen].skill;
  GenerationFacts facts;
  facts.id = session.id;
  facts.version = UPSKILL_VERSION;
  facts.generated_by = session.teacher_spec;
  facts.test_gen_model = session.given ? "given" : session.test_teacher_model ? session.test_teacher_spec : session.teacher_spec;
  facts.generated_at = UtcTimestamp(env.clock->WallNow());
  facts.task = session.sources.material.task;
  facts.sources = session.sources.names;
  if (session.teacher) facts.stages = session.teacher->costs();
  if (session.test_teacher) {
    for (const auto& [stage, cost] : session.test_teacher->costs()) facts.stages["tests: " + stage] = cost;
  }
  std::string reason = ReasonToRefuse(outcome, *AcceptRuleFromName(options.accept));
  Result<fs::path> folder = OutputFolder(session, skill.name);
  if (!folder) return PrintError(env, folder.error());
  if (reason.empty() && IsTaken(session, *folder)) reason = fmt::format("{} holds another skill (to improve it: --from)", Shown(folder->string()));
  const bool accepted = reason.empty();
  const fs::path target = accepted ? *folder : session.folder / skill.name;
  if (const Status written = WriteGeneratedSkill(outcome, facts, target); !written) return PrintError(env, written.error());
  if (options.json) {
    env.out(DumpJsonIndented(OutcomeToJson(session, outcome, target.string(), accepted, reason, facts.stages)) + "\n");
  } else {
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    env.out(fmt::format("{}\n", Headline(outcome)));
    if (!accepted) env.out(fmt::format("the existing skill stays as it is: {}\n", reason));
    if (session.teacher_spec == kExtract) env.out("no model wrote this skill: it is taken from the trace, word for word\n");
    env.out(fmt::format("skill  {} · about {} tokens · {}\n", Shown(target.string()), outcome.candidates[outcome.chosen].tokens, Shown(skill.name)));
    env.out(fmt::format("tests  {} sound, {} rejected; {} held out\n", outcome.cases.size(), outcome.rejected_cases.size(), outcome.test.size()));
    if (outcome.uncited_rules > 0) env.out(fmt::format("{} rules without proof in the material were left out\n", outcome.uncited_rules));
    if (outcome.measured) env.out("\n" + EvalBars(outcome.measured->judged, style));
    PrintCosts(outcome, facts.stages, env);
    env.out(fmt::format("generation {} · {}\n", session.id, Shown((target / "lineage.json").string())));
  }
  if (outcome.interrupted || !outcome.stopped.empty()) {
    env.error(fmt::format("stopped early: {}\n", Shown(outcome.stopped)));
    if (!outcome.cases.empty()) env.error(fmt::format("Continue with:\n  upskill generate{} --resume {}\n", options.runs_dir.empty() ? "" : " --runs-dir " + options.runs_dir, session.id));
    return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
  }
  return ExitCode::kSuccess;
}

}  // namespace

void AddGenerateCommand(CLI::App& app, GenerateCommandOptions& options) {
  CLI::App* command = app.add_subcommand("generate", "Write a skill from traces or a task, and measure it on students");
  command->add_option("TASK", options.task, "what the skill is for; may be left out with --from");
  command->add_option("-f,--from", options.from, "traces (files, folders, patterns, latest), or a skill folder to improve")->allow_extra_args(false);
  command->add_option("-e,--example", options.examples, "an example, 'input -> output'")->allow_extra_args(false);
  command->add_option("--tool", options.tools, "FILE#NAME: a tool of an MCP tools/list")->allow_extra_args(false);
  command->add_option("--docs", options.docs, "a text that the teacher should know")->allow_extra_args(false);
  command->add_option("-m,--model", options.model, "teacher; extract: none, the skill is taken from the trace (default: the configuration's, else extract)");
  command->add_option("--test-gen-model", options.test_gen_model, "writes the tests (default: the teacher)");
  command->add_option("--eval-model", options.eval_models, "student, repeatable (default: the configuration's, else the embedded model)")->allow_extra_args(false);
  command->add_option("--base-url", options.base_urls, "server of the teacher")->allow_extra_args(false);
  command->add_option("--eval-base-url", options.eval_base_urls, "server of the students")->allow_extra_args(false);
  command->add_option("-t,--tests", options.tests, "cases to use as they are instead of writing some");
  command->add_option("-o,--output", options.output, "folder of the skill (default: below skills_dir)");
  command->add_option("--name", options.name, "name of the skill");
  command->add_flag("--no-eval", options.no_eval, "don't measure");
  command->add_option("--skill-tokens", options.skill_tokens, "length of the skill's body")->capture_default_str()->check(CLI::Range(50, 20'000));
  command->add_option("--cases", options.cases, "tests to write")->capture_default_str()->check(CLI::Range(2, 200));
  command->add_option("--holdout", options.holdout, "share of the tests that only the last measurement sees")->capture_default_str()->check(CLI::Range(0.1, 0.9));
  command->add_option("--candidates", options.candidates, "changes tried in one attempt")->capture_default_str()->check(CLI::Range(1, 20));
  command->add_option("--max-attempts", options.attempts, "attempts at refining")->capture_default_str()->check(CLI::Range(0, 50));
  command->add_option("--train-runs", options.train_runs, "rounds of a candidate on the train tests")->capture_default_str()->check(CLI::Range(1, 100));
  command->add_option("--runs", options.runs, "most rounds of the last measurement")->capture_default_str()->check(CLI::Range(1, 1000));
  command->add_option("--max-tokens", options.max_tokens, "most tokens of a student's answer")->capture_default_str()->check(CLI::Range(1, 1'000'000));
  command->add_option("--temperature", options.temperature, "of the students' answers (default: each model's own)")->check(CLI::Range(0.0, 2.0));
  command->add_option("--budget", options.budget, "tokens of material in one question to the teacher")->capture_default_str()->check(CLI::Range(500, 1'000'000));
  command->add_option("--accept", options.accept, "when an existing skill is replaced: helps, never-worse or any")->capture_default_str();
  command->add_option("--max-cost", options.max_cost_usd, "US dollars for all stages together")->check(CLI::NonNegativeNumber);
  command->add_option("--seed", options.seed, "seed of split and sampling")->capture_default_str();
  command->add_option("-j,--parallel", options.parallel, "most answers in flight")->check(CLI::Range(1, 100'000));
  command->add_option("--runs-dir", options.runs_dir, "folder of runs and generations");
  command->add_option("--resume", options.resume, "go on with a generation (latest, its name, or its last 4 digits)")->expected(0, 1)->default_str("latest");
  command->add_flag("--dry-run", options.dry_run, "print what would be done and its price");
  command->add_flag("--lenient", options.lenient, "keep what is readable of damaged traces");
  command->add_flag("--no-redact", options.no_redact, "leave secrets in; only with a teacher on this machine");
  command->add_flag("--json", options.json, "print the result as JSON");
  command->add_flag("-q,--quiet", options.quiet, "no progress on stderr");
  AddColorOption(*command, options.color);
}

ExitCode RunGenerate(GenerateCommandOptions options, const std::vector<std::string>& arguments, Env& env) {
  Session session;
  session.options = std::move(options);
  if (const Status prepared = Prepare(session, arguments, env); !prepared) return PrintError(env, prepared.error());
  if (!session.options.quiet) {
    for (const std::string& warning : session.sources.warnings) env.error(fmt::format("warning: {}\n", warning));
    if (!session.sources.redactions.empty()) env.error(session.sources.redactions + "\n");
  }
  if (session.options.dry_run) {
    PrintDryRun(session, env);
    return ExitCode::kSuccess;
  }
  ProgressLine progress(StyleFor(env, env.error_is_terminal, session.options.color), env.error_is_terminal, env.error);
  GenerateInput input = InputOf(session, progress, env);
  Result<AppendFile> trials = AppendFile::Open(session.folder / "trials.txt", true);
  if (!trials) return PrintError(env, trials.error());
  input.trials.on_run = [&](const std::string& run) { static_cast<void>(trials->Append(run + "\n")); };
  input.say = [&](const std::string& line) {
    progress.Clear();
    if (!session.options.quiet) env.error(SafeForTerminalLine(line) + "\n");
  };
  const Result<GenerateOutcome> outcome = GenerateSkill(input);
  progress.Clear();
  if (!outcome) {
    const ExitCode code = PrintError(env, outcome.error());
    env.error(fmt::format("Continue with:\n  upskill generate{} --resume {}\n",
                          session.options.runs_dir.empty() ? "" : " --runs-dir " + session.options.runs_dir, session.id));
    return outcome.error().kind == ErrorKind::kCancelled ? ExitCode::kInterrupted : code;
  }
  return Finish(session, *outcome, env);
}

}  // namespace upskill
