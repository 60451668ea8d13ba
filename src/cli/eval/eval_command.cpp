// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/eval_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "cli/eval/eval_matrix.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/eval_tests.h"
#include "cli/eval/option_row.h"
#include "cli/models/models_by_key.h"
#include "cli/models/sandbox_option.h"
#include "eval/plan/plan.h"
#include "eval/run/runner.h"
#include "eval/verdict/judged_run.h"
#include "eval/verdict/stop_rule.h"
#include "measure/measurement.h"
#include "model/model_spec.h"
#include "report/export/eval_json.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/figures.h"
#include "report/terminal/findings_text.h"
#include "report/terminal/judge_text.h"
#include "report/terminal/ledger_text.h"
#include "report/terminal/progress_line.h"
#include "report/terminal/result_sentence.h"
#include "report/terminal/verdict_text.h"
#include "skill/skill.h"
#include "skill/skill_tree.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

// The command that resumes the run of this plan, with the same limits and gate.
std::string ResumeLine(const EvalOptions& options, const Plan& plan) {
  EvalOptions given = options;
  given.models.clear();
  for (const Student& student : plan.students) given.models.push_back(student.spec);
  given.judge_model = plan.judge ? plan.judge->spec : "";
  std::string line = fmt::format("upskill {} {}", options.table_first ? "benchmark" : "eval", ShellWord(options.skill));
  const unsigned of_other = options.table_first ? kOnlyEval : kOnlyBenchmark;
  for (const EvalOption& row : EvalOptionRows()) {
    if ((row.traits & kInResumeLine) == 0 || (row.traits & of_other) != 0) continue;
    for (const std::string& word : row.at.words(given)) {
      line += " " + row.names.substr(0, row.names.find(','));
      if (!row.value.empty()) line += " " + ShellWord(word);
    }
  }
  return line + " --resume " + ShellWord(plan.run);
}

std::chrono::milliseconds MillisecondsOf(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000.0));
}

// A line for standard output: on a terminal, broken between words, with `indent` before all but the first.
TerminalText OutLine(const std::string& line, const Env& env, std::size_t indent = 2) {
  return (env.out_is_terminal ? Wrapped(line, env.columns, indent) : TerminalText::EscapeLine(line)) + "\n";
}

// Lines without colours, of which those that are too long for the terminal are broken.
TerminalText OutLines(const TerminalText& lines, const Env& env) {
  TerminalText out;
  std::string_view rest = lines.text();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    out += line.starts_with(' ') ? TerminalText::Trusted(line + "\n") : OutLine(line, env);
  }
  return out;
}

// "model  smollm2-135m (in process, 32 sequences, up to 1,100 tokens/s)"
TerminalText ModelLine(const char* label, const ModelInfo& info, const Env& env) {
  const auto rate = static_cast<long long>(info.tokens_per_second);
  const std::string speed = rate > 0 ? fmt::format(", up to {} tokens/s", WithThousands(rate)) : std::string();
  return OutLine(fmt::format("{}  {} ({}{})", label, info.name, info.detail, speed), env, 7);
}

void PrintHead(const Skill& skill, const EvalOptions& options, const Config& config, const Measurement& measurement,
               Env& env) {
  env.out(EvalHead(measurement.plan, StyleFor(env, env.out_is_terminal, options.color)));
  if (options.quiet) return;
  for (const Model* const model : measurement.models) {
    env.out(ModelLine("model", model->info(), env));
  }
  if (measurement.judge) env.out(ModelLine("judge", measurement.judge->info(), env));
  if (!skill.references.empty())
    env.out(TerminalText::Format("note   models get SKILL.md alone, without its {}\n",
                                 Counted(skill.references.size(), "reference")));
  const Plan& plan = measurement.plan;
  const std::string note = AwaitsVerdict(GateOf(plan), plan, ComparedArm(plan)) ? LookNote(plan) : std::string();
  if (!note.empty()) env.out(OutLine("note   " + note, env, 7));
  if (options.models.empty() && options.resume.empty() && config.eval_model.empty() &&
      config.skill_generation_model.empty()) {
    env.out("       no -m given: the default model is used\n");
  }
}

void PrintReuse(const Measurement& measurement, const RunOutcome& outcome, Env& env) {
  const RunProgress& progress = outcome.progress;
  if (progress.reused == 0) return;
  std::string where = "this run";
  if (!measurement.is_resumed) {
    std::vector<std::string> runs;
    for (const Sample& sample : measurement.cached) {
      if (std::find(runs.begin(), runs.end(), sample.cached_from) == runs.end()) runs.push_back(sample.cached_from);
    }
    std::sort(runs.begin(), runs.end());
    where = runs.size() == 1 ? "run " + runs.front() : fmt::format("{} runs", runs.size());
    where = fmt::format("the cache ({})", where);
  }
  env.out(OutLine(fmt::format("{} of {} cells from {}{}", progress.reused, progress.total, where,
                              progress.reused == progress.total ? "; no requests were sent" : ""),
                  env));
}

// The command that writes a report of the run; empty if the run isn't stored.
std::string ReportLine(const EvalOptions& options, const Measurement& measurement) {
  if (!measurement.journal) return "";
  const std::string& name = measurement.plan.run;
  const std::string shortest = name.substr(name.size() < 4 ? 0 : name.size() - 4);
  return fmt::format("upskill report {} -o report.html",
                     options.runs_dir.empty() ? shortest : measurement.journal->folder().string());
}

void PrintResult(const EvalOptions& options, const Measurement& measurement, const RunOutcome& outcome,
                 const JudgedRun& run, Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  if (options.json) {
    Json document = EvalToJson(run);
    document["gate"] = measurement.gate ? GateToJson(*measurement.gate, run) : Json(nullptr);
    PrintDocument(env, DumpJsonIndented(document) + "\n");
    return;
  }
  PrintReuse(measurement, outcome, env);
  if (options.verbose)
    env.out("\n" + EvalCases(run.data, style, ReportLine(options, measurement)) + FindingDetails(run));
  const bool several = measurement.plan.students.size() > 1;
  const TerminalText table = several || options.table_first ? EvalTable(run, style) : TerminalText();
  const TerminalText bars = several && !options.table_first ? TerminalText() : EvalBars(run, style);
  env.out("\n" + ResultLines(run, style) + "\n" + TerminalText::Join(std::vector{table, bars}, "\n"));
  const TerminalText notes =
      (bars.empty() ? EvalTableNotes(run, style) : TerminalText()) +
      OutLines(EvalCaseNotes(
                   run, measurement.journal && !options.verbose ? ResumeLine(options, measurement.plan) + " -v" : ""),
               env);
  if (!notes.empty()) env.out(bars.empty() ? "\n" + notes : notes);
  if (outcome.progress.saved > 0) {
    env.out(TerminalText::Format("skipped {} of {} cells: {}\n",
                                 WithThousands(static_cast<long long>(outcome.progress.saved)),
                                 WithThousands(static_cast<long long>(outcome.progress.total)), SkippedText(run)));
  }
  if (const std::string judged = JudgeSpentText(run); !judged.empty())
    env.out(TerminalText::Format("judge {}\n", judged));
  if (outcome.progress.cost_usd > 0) env.out(TerminalText::Format("spent {}\n", MoneyText(outcome.progress.cost_usd)));
  if (measurement.journal) {
    env.out(TerminalText::Format("run {} · {}\n{}\n", measurement.plan.run, measurement.journal->folder().string(),
                                 ReportLine(options, measurement)));
  }
  const std::string note = AlphaNote(run.plan());
  const bool awaited = AwaitsVerdict(GateOf(run.plan()), run.plan(), ComparedArm(run.plan()));
  if (!note.empty() && awaited) env.out(OutLine("details  " + note, env, 9));
}

// Why requests failed, unless a model's end has said so. Counts alone help nobody.
TerminalText FirstError(const RunOutcome& outcome, const JudgedRun& run) {
  if (outcome.progress.errors == 0 || !outcome.stopped_models.empty()) return "";
  const SamplePtr first = run.data.samples().first_error();
  return first == nullptr ? "" : TerminalText::Format("first error: {}\n", first->error->message);
}

// What ended the run, or failed its requests.
void PrintReasons(const RunOutcome& outcome, const JudgedRun& run, Env& env) {
  for (const std::string& stopped : outcome.stopped_models) {
    env.error(TerminalText::Format("error: model {}\n", stopped));
  }
  if (run.summary.complete()) return;
  if (!outcome.exhausted.empty()) env.error(TerminalText::Format("stopped: {}\n", outcome.exhausted));
  env.error(FirstError(outcome, run));
}

// Rounded up to two digits: 0.0124 is 0.013.
double RoundedUp(double usd) {
  const double unit = std::pow(10.0, std::floor(std::log10(usd)) - 1.0);
  return std::stod(fmt::format("{:.1e}", std::ceil(usd / unit) * unit));
}

// The command that goes on, with limits that have room for at least one answer.
TerminalText HowToGoOn(const EvalOptions& options, const Measurement& measurement, const RunOutcome& outcome) {
  EvalOptions raised = options;
  const bool needs_usd = options.max_cost_usd && outcome.needed.usd > *options.max_cost_usd;
  const bool needs_tokens = options.max_tokens_total && outcome.needed.tokens > *options.max_tokens_total;
  if (needs_usd) raised.max_cost_usd = RoundedUp(outcome.needed.usd);
  if (needs_tokens) raised.max_tokens_total = outcome.needed.tokens;
  return TerminalText::Format(". {}:\n  {}",
                              needs_usd || needs_tokens
                                  ? "The limit has no room for a single answer. Continue with this one or a higher one"
                                  : "Continue with",
                              ResumeLine(raised, measurement.plan));
}

std::string AnsweredText(const JudgedRun& run) {
  const auto text = [](std::size_t count) { return WithThousands(static_cast<long long>(count)); };
  return fmt::format("{} of {} cells answered, {} unanswered", text(run.summary.answered), text(run.summary.cells),
                     text(run.summary.cells - run.summary.answered));
}

ExitCode Conclude(const EvalOptions& options, const Measurement& measurement, const RunOutcome& outcome,
                  const JudgedRun& run, Env& env) {
  if (run.summary.answered > 0) PrintReasons(outcome, run, env);
  if (!options.quiet) {
    if (const RateLimits& limits = outcome.progress.rate_limits; limits.times > 0)
      env.error(TerminalText::Format("note: {}\n", RateLimitsText(limits)));
    for (const std::string& caveat : outcome.caveats) env.error(TerminalText::Format("note: {}\n", caveat));
  }
  if (run.summary.complete()) {
    if (measurement.gate && !PrintGate(*measurement.gate, run, options.color, env)) return ExitCode::kFailed;
    return ExitCode::kSuccess;
  }
  if (measurement.gate) env.error("gate not evaluated: the run is incomplete\n");
  TerminalText text = TerminalText::Format("{}", AnsweredText(run));
  if (outcome.progress.errors > 0) text += TerminalText::Format(" ({} with errors)", outcome.progress.errors);
  if (measurement.journal) text += HowToGoOn(options, measurement, outcome);
  env.error(text + "\n");
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
}

// The models were given up before any answer: there is nothing to report, and resuming would fail in the same way.
bool GaveUp(const RunOutcome& outcome, const JudgedRun& run) {
  return run.summary.answered == 0 && !outcome.stopped_models.empty() && !outcome.interrupted &&
         outcome.exhausted.empty();
}

// Tells the command that the run serves which one it is.
Status TellRun(const EvalUse& use, const Measurement& measurement) {
  return use.on_run && measurement.journal ? use.on_run(measurement.plan.run) : Status();
}

// Asks the models, with a line of progress.
Result<RunOutcome> CarryOut(const EvalOptions& options, const EvalUse& use, EvalSession& session, Env& env) {
  ProgressLine progress(StyleFor(env, env.error_is_terminal, options.color), env.error_is_terminal, env.error,
                        session.written);
  RunBounds bounds{LimitsOf(options), use.budget, options.quiet ? nullptr : &progress};
  if (use.timeout_left_seconds) bounds.limits.timeout = MillisecondsOf(*use.timeout_left_seconds);
  Result<RunOutcome> outcome = RunMeasurement(session.measurement, bounds);
  progress.Clear();
  return outcome;
}

// Starts or resumes the run of the command. `options` gets what it recalls, and outlives the session.
Result<EvalSession> OpenEval(const Skill& skill, EvalOptions& options, const EvalUse& use, const Config& config,
                             Env& env) {
  ASSIGN_OR_RETURN(std::optional<StoredRun> resumed, RunToResume(options, config));
  if (resumed) RecallTerms(resumed->plan, options, env);
  RETURN_IF_ERROR(WriteMissingTests(skill, options, config, env));
  ASSIGN_OR_RETURN(SandboxOptions sandbox, SandboxOptionsOf(options.sandbox, env));
  ASSIGN_OR_RETURN(MeasureSpec spec, SpecOf(skill, options, config, Sandbox(std::move(sandbox)), env.stop));
  spec.resumes_same_run = use.resumes_same_run && !options.refresh;
  return OpenEvalSession(spec, std::move(resumed), options, config, env);
}

// A folder that isn't a skill stands for the skills below it. A skill that is named twice is measured once.
Result<std::vector<std::string>> SkillsNamed(const std::vector<std::string>& given) {
  std::vector<std::string> skills;
  for (const std::string& path : given) {
    std::error_code code;
    std::vector<std::string> below;
    if (std::filesystem::is_directory(path, code)) {
      ASSIGN_OR_RETURN(below, FindSkillFolders(path));
    }
    if (below.empty()) below.push_back(path);  // what is wrong with it is said when it is loaded
    for (const std::string& skill : below) {
      const auto is_same = [&](const std::string& other) { return std::filesystem::equivalent(other, skill, code); };
      if (std::none_of(skills.begin(), skills.end(), is_same)) skills.push_back(skill);
    }
  }
  return skills;
}

// The options that --ci stands for.
void ExpandCi(EvalOptions& options) {
  if (options.ci.empty()) return;
  options.changed_since = options.ci;
  options.against = "git:" + options.ci;
  options.stop_when_decided = true;
  options.no_baseline = options.no_baseline || options.gate.empty();
  options.gate = options.gate.empty() ? "not-regressed" : "not-regressed; " + options.gate;
}

}  // namespace

bool PrintGate(const Gate& gate, const JudgedRun& run, ColorMode color, Env& env) {
  bool all = true;
  const Style style = StyleFor(env, env.error_is_terminal, color);
  for (const GateResult& result : CheckGate(gate, run)) {
    all = all && result.passed;
    env.error(
        TerminalText::Format("gate  {}  {}{}{}{}: {}\n",
                             Tinted(style, result.passed ? Tint::kGood : Tint::kBad, result.passed ? "holds" : "FAILS"),
                             result.clause, result.model.empty() ? "" : " · " + result.model,
                             result.against.empty() ? "" : " vs ", result.against, result.detail));
  }
  return all;
}

RunLimits LimitsOf(const EvalOptions& options) {
  RunLimits limits;
  limits.max_cost_usd = options.max_cost_usd;
  limits.max_tokens = options.max_tokens_total;
  if (options.timeout_seconds) limits.timeout = MillisecondsOf(*options.timeout_seconds);
  return limits;
}

// Without -m and a configured model: says what is measured, and what else there is. A key is used only with --max-cost.
Status ChooseStudentByKey(EvalOptions& options, const Env& env) {
  if (!options.models.empty() || !options.resume.empty()) return {};
  ASSIGN_OR_RETURN(const Config config, LoadConfig(env));
  if (!config.eval_model.empty() || !config.skill_generation_model.empty()) return {};
  if (!options.base_urls.empty()) return InputError("--base-url needs -m: name a model of the server");
  const std::optional<ModelsByKey> by_key = FindModelsByKey(env);
  if (!by_key) return {};
  const bool is_used = options.max_cost_usd.has_value();
  if (is_used) options.models = {by_key->student};
  if (!options.quiet) {
    env.error(is_used ? TerminalText::Format("using {}, with the key from {}; the built-in model: -m {}\n",
                                             by_key->student, by_key->source, kEmbeddedModel)
                      : TerminalText::Format("using {}, built in; with the key from {}: -m {} --max-cost 1\n",
                                             kEmbeddedModel, by_key->source, by_key->student));
  }
  return {};
}

ExitCode RunEval(const EvalOptions& given, Env& env) {
  EvalOptions options = given;
  ExpandCi(options);
  if (const Status chosen = ChooseStudentByKey(options, env); !chosen) return PrintError(env, chosen.error());
  if (options.skills.empty()) return RunEvalPart(options, {}, env).code;
  options.skills = SkillsNotDeleted(options, env);
  Result<std::vector<std::string>> skills = SkillsNamed(options.skills);
  if (!skills) return PrintError(env, skills.error());
  options.skills = *std::move(skills);
  if (IsMatrix(options)) return RunEvalMatrix(options, env);
  options.skill = options.skills.front();
  return RunEvalPart(options, {}, env).code;
}

Result<JudgedRun> RunEvalQuietly(const MeasureSpec& spec, const EvalOptions& options, const Config& config,
                                 const EvalUse& use, Env& env) {
  ASSIGN_OR_RETURN(std::optional<StoredRun> resumed, RunToResume(options, config));
  ASSIGN_OR_RETURN(EvalSession session, OpenEvalSession(spec, std::move(resumed), options, config, env));
  RETURN_IF_ERROR(TellRun(use, session.measurement));
  ASSIGN_OR_RETURN(RunOutcome outcome, CarryOut(options, use, session, env));
  EndedRun ended = EndMeasurement(session.measurement, std::move(outcome.data));
  RETURN_IF_ERROR(std::move(ended.files));
  RETURN_IF_ERROR(std::move(ended.noted));
  JudgedRun run = std::move(ended.judged);
  if (run.summary.complete()) return run;
  const ErrorKind kind = outcome.interrupted ? ErrorKind::kCancelled : ErrorKind::kUnavailable;
  std::string why = outcome.exhausted;
  if (why.empty() && !outcome.stopped_models.empty()) why = outcome.stopped_models.front();
  const SamplePtr failed = why.empty() ? run.data.samples().first_error() : nullptr;
  if (failed != nullptr) why = failed->error->message;
  return Error{kind, fmt::format("{} of {} cells of run {} have no answer{}; the same command continues with them",
                                 run.summary.cells - run.summary.answered, run.summary.cells, run.plan().run,
                                 why.empty() ? "" : ": " + why)};
}

EvalPart RunEvalPart(const EvalOptions& given, const EvalUse& use, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return {PrintError(env, config.error()), {}, false};
  EvalOptions options = given;
  const Result<Skill> skill = LoadSkill(options.skill);
  if (!skill) return {PrintError(env, skill.error()), {}, false};
  Result<EvalSession> session = OpenEval(*skill, options, use, *config, env);
  if (!session) return {PrintError(env, session.error()), {}, false};
  Measurement& measurement = session->measurement;
  const std::filesystem::path folder = measurement.journal ? measurement.journal->folder() : std::filesystem::path();
  if (const Status told = TellRun(use, measurement); !told) return {PrintError(env, told.error()), folder, true};
  if (!options.json) PrintHead(*skill, options, *config, measurement, env);

  Result<RunOutcome> outcome = CarryOut(options, use, *session, env);
  if (!outcome) {
    PrintError(env, outcome.error());
    if (measurement.journal) {
      env.error(TerminalText::Format("the answers so far are saved; fix the cause and continue with:\n  {}\n",
                                     ResumeLine(options, measurement.plan)));
    }
    return {ExitCode::kIncomplete, folder, true};
  }
  const EndedRun ended = EndMeasurement(measurement, std::move(outcome->data));
  const JudgedRun& run = ended.judged;
  if (run.summary.answered == 0) PrintReasons(*outcome, run, env);  // all that there is to say
  if (GaveUp(*outcome, run) && !options.json) {
    env.error(TerminalText::Format(
        "{} ({} with errors), so there is no result. Once the cause is gone, run the same command again.\n",
        AnsweredText(run), outcome->progress.errors));
    return {ExitCode::kIncomplete, folder, false};
  }
  PrintResult(options, measurement, *outcome, run, env);
  if (!ended.noted) PrintWarning(env, "this look at the tests could not be counted: " + ended.noted.error().message);
  const ExitCode code = Conclude(options, measurement, *outcome, run, env);
  const bool ends_all = outcome->interrupted || !outcome->exhausted.empty();
  if (ended.files) return {code, folder, ends_all};
  PrintWarning(env,
               fmt::format("the run is saved, but files for other programs could not be written: {}; to write them:"
                           "\n{}",
                           ended.files.error().message, ResumeLine(options, measurement.plan)));
  return {code == ExitCode::kSuccess ? ExitCode::kIncomplete : code, folder, ends_all};
}

}  // namespace upskill
