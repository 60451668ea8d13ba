// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/eval_matrix.h"
#include "cli/eval_session.h"
#include "cli/eval_tests.h"
#include "cli/resume_line.h"
#include "eval/judged_run.h"
#include "eval/ledger.h"
#include "eval/runner.h"
#include "report/eval_json.h"
#include "report/eval_text.h"
#include "report/figures.h"
#include "report/findings_text.h"
#include "report/gate_json.h"
#include "report/judge_text.h"
#include "report/ledger_text.h"
#include "report/progress_line.h"
#include "report/run_files.h"
#include "report/verdict_text.h"
#include "skill/skill.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

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

void PrintHead(const EvalOptions& options, const Config& config, const EvalSession& session, Env& env) {
  env.out(EvalHead(session.plan, StyleFor(env, env.out_is_terminal, options.color)));
  if (options.quiet) return;
  for (const auto& model : session.models) {
    env.out(OutLine(fmt::format("model  {} ({})", model->info().name, model->info().detail), env, 7));
  }
  if (session.judge)
    env.out(OutLine(fmt::format("judge  {} ({})", session.judge->info().name, session.judge->info().detail), env, 7));
  if (const Result<Skill> skill = LoadSkill(options.skill); skill && !skill->references.empty())
    env.out(TerminalText::Format("note   models get SKILL.md alone, without its {}\n",
                                 Counted(skill->references.size(), "reference")));
  if (const std::string note = AlphaNote(session.plan); !note.empty()) env.out(OutLine("alpha  " + note, env, 7));
  if (options.models.empty() && options.resume.empty() && config.eval_model.empty() &&
      config.skill_generation_model.empty()) {
    env.out("       no -m given: the default model is used\n");
  }
}

void PrintReuse(const EvalOptions& options, const EvalSession& session, const RunOutcome& outcome, Env& env) {
  const RunProgress& progress = outcome.progress;
  if (progress.reused == 0) return;
  std::string where = "this run";
  if (options.resume.empty() && !session.resumes_same_run) {
    std::vector<std::string> runs;
    for (const Sample& sample : session.cached) {
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
std::string ReportLine(const EvalOptions& options, const EvalSession& session) {
  if (!session.journal) return "";
  const std::string& name = session.plan.run;
  const std::string shortest = name.substr(name.size() < 4 ? 0 : name.size() - 4);
  return fmt::format("upskill report {} -o report.html",
                     options.runs_dir.empty() ? shortest : session.journal->folder().string());
}

void PrintResult(const EvalOptions& options, const EvalSession& session, const RunOutcome& outcome,
                 const JudgedRun& run, Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  if (options.json) {
    Json document = EvalToJson(run);
    document["gate"] = session.gate ? GateToJson(*session.gate, run) : Json(nullptr);
    PrintDocument(env, DumpJsonIndented(document) + "\n");
    return;
  }
  PrintReuse(options, session, outcome, env);
  if (options.verbose) env.out("\n" + EvalCases(run.data, style, ReportLine(options, session)) + FindingDetails(run));
  const bool several = session.plan.students.size() > 1;
  const TerminalText table = several || options.table_first ? EvalTable(run, style) : TerminalText();
  const TerminalText bars = several && !options.table_first ? TerminalText() : EvalBars(run, style);
  env.out("\n" + TerminalText::Join(std::vector{table, bars}, "\n"));
  const TerminalText notes =
      (bars.empty() ? EvalTableNotes(run, style) : TerminalText()) +
      OutLines(EvalCaseNotes(run, session.journal && !options.verbose ? ResumeLine(options, session) + " -v" : ""),
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
  if (session.journal) {
    env.out(TerminalText::Format("run {} · {}\n{}\n", session.plan.run, session.journal->folder().string(),
                                 ReportLine(options, session)));
  }
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
TerminalText HowToGoOn(const EvalOptions& options, const EvalSession& session, const RunOutcome& outcome) {
  EvalOptions raised = options;
  const bool needs_usd = options.max_cost_usd && outcome.needed.usd > *options.max_cost_usd;
  const bool needs_tokens = options.max_tokens_total && outcome.needed.tokens > *options.max_tokens_total;
  if (needs_usd) raised.max_cost_usd = RoundedUp(outcome.needed.usd);
  if (needs_tokens) raised.max_tokens_total = outcome.needed.tokens;
  return TerminalText::Format(". {}:\n  {}",
                              needs_usd || needs_tokens
                                  ? "The limit has no room for a single answer. Continue with this one or a higher one"
                                  : "Continue with",
                              ResumeLine(raised, session));
}

ExitCode Conclude(const EvalOptions& options, const EvalSession& session, const RunOutcome& outcome,
                  const JudgedRun& run, Env& env) {
  if (run.summary.answered > 0) PrintReasons(outcome, run, env);
  if (!options.quiet) {
    if (const RateLimits& limits = outcome.progress.rate_limits; limits.times > 0)
      env.error(TerminalText::Format("note: {}\n", RateLimitsText(limits)));
    for (const std::string& caveat : outcome.caveats) env.error(TerminalText::Format("note: {}\n", caveat));
  }
  if (run.summary.complete()) {
    if (session.gate && !PrintGate(*session.gate, run, options.color, env)) return ExitCode::kFailed;
    return ExitCode::kSuccess;
  }
  if (session.gate) env.error("gate not evaluated: the run is incomplete\n");
  const std::size_t unanswered = run.summary.cells - run.summary.answered;
  TerminalText text = TerminalText::Format(
      "{} of {} cells answered, {} unanswered", WithThousands(static_cast<long long>(run.summary.answered)),
      WithThousands(static_cast<long long>(run.summary.cells)), WithThousands(static_cast<long long>(unanswered)));
  if (outcome.progress.errors > 0) text += TerminalText::Format(" ({} with errors)", outcome.progress.errors);
  if (session.journal) text += HowToGoOn(options, session, outcome);
  env.error(text + "\n");
  return outcome.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
}

// Asks the models, with a line of progress.
Result<RunOutcome> CarryOut(const EvalOptions& options, EvalSession& session, Budget* budget, Env& env) {
  ProgressLine progress(StyleFor(env, env.error_is_terminal, options.color), env.error_is_terminal, env.error);
  RunInput input;
  input.plan = &session.plan;
  for (const auto& model : session.models) input.models.push_back(model.get());
  input.judge = session.judge.get();
  input.journal = session.journal ? &*session.journal : nullptr;
  input.resumed = std::move(session.resumed);
  input.cached = session.cached;
  input.limits = LimitsOf(options);
  input.budget = budget;
  input.stop = env.stop;
  input.clock = env.clock;
  input.sandbox = session.sandbox.get();
  if (!options.quiet) input.observer = &progress;
  Result<RunOutcome> outcome = RunPlan(std::move(input));
  progress.Clear();
  return outcome;
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
  if (const auto& seconds = options.timeout_left_seconds ? options.timeout_left_seconds : options.timeout_seconds)
    limits.timeout = std::chrono::milliseconds(std::llround(*seconds * 1000.0));
  return limits;
}

ExitCode RunEval(const EvalOptions& given, Env& env) {
  if (given.skills.empty()) return RunEvalPart(given, nullptr, env).code;
  if (IsMatrix(given)) return RunEvalMatrix(given, env);
  EvalOptions options = given;
  options.skill = given.skills.front();
  return RunEvalPart(options, nullptr, env).code;
}

Result<JudgedRun> RunEvalQuietly(const EvalOptions& options, const Config& config, Budget& budget, Env& env) {
  ASSIGN_OR_RETURN(EvalSession session, OpenEvalSession(options, config, env));
  if (options.on_run && session.journal) RETURN_IF_ERROR(options.on_run(session.plan.run));
  ASSIGN_OR_RETURN(RunOutcome outcome, CarryOut(options, session, &budget, env));
  JudgedRun run = Judge(std::move(outcome.data));
  if (session.journal) RETURN_IF_ERROR(WriteRunFiles(run, session.journal->folder()));
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

EvalPart RunEvalPart(const EvalOptions& given, Budget* budget, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return {PrintError(env, config.error()), {}, false};
  EvalOptions options = given;
  if (const Status recalled = RecallTerms(options, *config, env); !recalled)
    return {PrintError(env, recalled.error()), {}, false};
  if (const Status written = WriteMissingTests(options, *config, env); !written)
    return {PrintError(env, written.error()), {}, false};
  Result<EvalSession> session = OpenEvalSession(options, *config, env);
  if (!session) return {PrintError(env, session.error()), {}, false};
  const std::filesystem::path folder = session->journal ? session->journal->folder() : std::filesystem::path();
  const Status told = options.on_run && session->journal ? options.on_run(session->plan.run) : Status();
  if (!told) return {PrintError(env, told.error()), folder, true};
  if (!options.json) PrintHead(options, *config, *session, env);

  Result<RunOutcome> outcome = CarryOut(options, *session, budget, env);
  if (!outcome) {
    PrintError(env, outcome.error());
    if (session->journal) {
      env.error(TerminalText::Format("the answers so far are saved; fix the cause and continue with:\n  {}\n",
                                     ResumeLine(options, *session)));
    }
    return {ExitCode::kIncomplete, folder, true};
  }
  const JudgedRun run = Judge(std::move(outcome->data));
  const Status files = session->journal ? WriteRunFiles(run, session->journal->folder()) : Status();
  if (run.summary.answered == 0) PrintReasons(*outcome, run, env);  // all that there is to say
  PrintResult(options, *session, *outcome, run, env);
  if (session->journal) {
    if (const Status noted = NoteLook(session->runs_dir, run, *env.clock); !noted)
      PrintWarning(env, "this look at the tests could not be counted: " + noted.error().message);
  }
  const ExitCode code = Conclude(options, *session, *outcome, run, env);
  const bool ends_all = outcome->interrupted || !outcome->exhausted.empty();
  if (files) return {code, folder, ends_all};
  PrintWarning(env,
               fmt::format("the run is saved, but files for other programs could not be written: {}; to write them:"
                           "\n{}",
                           files.error().message, ResumeLine(options, *session)));
  return {code == ExitCode::kSuccess ? ExitCode::kIncomplete : code, folder, ends_all};
}

}  // namespace upskill
