// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/config.h"
#include "cli/eval/commands.h"
#include "cli/eval/eval_command.h"
#include "cli/eval/eval_options.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/eval_tests.h"
#include "cli/eval/job_run.h"
#include "cli/eval/option_row.h"
#include "cli/runs/loaded_run.h"
#include "cluster/follow.h"
#include "cluster/hf_jobs.h"
#include "cluster/kubernetes.h"
#include "cluster/slurm.h"
#include "eval/journal/journal.h"
#include "eval/journal/runs_folder.h"
#include "eval/verdict/ledger.h"
#include "net/url.h"
#include "report/export/eval_json.h"
#include "report/export/run_files.h"
#include "report/terminal/eval_text.h"
#include "report/terminal/result_sentence.h"
#include "util/folder.h"
#include "util/nearest_name.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Whether --resume takes the option of "--seed=7" from the run's plan.
bool IsDecidedByPlan(const std::string& argument) {
  const EvalOption* row = FindEvalOption(argument.substr(0, argument.find('=')));
  return row != nullptr && (row->traits & kInPlan) != 0;
}

// The options that `eval` was given and that each shard is to be given too, one word for each: "--seed=7". Those of the
// whole run aren't among them (limits, gate, output, where it runs), and no paths of runs.
std::vector<std::string> ShardArguments(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const EvalOption& row : EvalOptionRows()) {
    const std::string name = LongNameOf(row);
    if (name.empty() || (row.traits & (kOfWholeRun | kOnlyBenchmark)) != 0) continue;
    const CLI::Option* option = command.get_option(name);
    if (option->count() == 0) continue;
    if (option->get_items_expected_max() == 0) {  // a flag
      arguments.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) arguments.push_back(fmt::format("{}={}", name, value));
  }
  return arguments;
}

// The arguments of a run that is resumed: `stored` as its record has them. What --resume takes from a run's plan is
// taken from there; anything else, such as a model that is a command, must be given again, because the record may come
// from elsewhere. Error: it isn't, or something was not given then.
Result<std::vector<std::string>> ConfirmedArguments(const CLI::App& command, const std::vector<std::string>& stored) {
  const std::vector<std::string> given = ShardArguments(command);
  for (const std::string& argument : stored) {
    const bool repeated = std::find(given.begin(), given.end(), argument) != given.end();
    if (repeated || IsDecidedByPlan(argument)) continue;
    return InputError(fmt::format("the run was started with {}: to confirm that it may be used, give it again",
                                  ShellWord(ExcerptLine(argument, 200))));
  }
  for (const std::string& argument : given) {
    if (std::find(stored.begin(), stored.end(), argument) != stored.end()) continue;
    return InputError(
        fmt::format("the run was started without {}; leave it out, or start a new run", ShellWord(argument)));
  }
  return stored;
}

// The ones of `arguments` that have to be given again with --resume.
std::vector<std::string> ArgumentsToRepeat(const std::vector<std::string>& arguments) {
  std::vector<std::string> repeated;
  for (const std::string& argument : arguments) {
    if (!IsDecidedByPlan(argument)) repeated.push_back(argument);
  }
  return repeated;
}

// The words before `eval`: "--no-env-file".
std::vector<std::string> GlobalArguments(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const char* flag : {"--trust-config", "--no-env-file"}) {
    const CLI::Option* option = command.get_parent()->get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0) arguments.emplace_back(flag);
  }
  return arguments;
}

struct JobSession {
  EvalOptions options;
  fs::path runs_dir;  // absolute, as is `folder`
  fs::path folder;    // of the run
  JobRecord record;
  std::unique_ptr<JobEngine> engine;
  std::optional<Folder> lock;  // on shards/: nobody else follows the run
};

// "slurm:gpu", "kubernetes", …
Result<std::unique_ptr<JobEngine>> MakeEngine(const std::string& on, const std::vector<std::string>& job_options) {
  std::vector<JobOption> options;
  for (const std::string& text : job_options) {
    ASSIGN_OR_RETURN(JobOption option, ParseJobOption(text));
    options.push_back(std::move(option));
  }
  const std::size_t colon = on.find(':');
  const std::string kind = on.substr(0, colon);
  const std::string where = colon == std::string::npos ? "" : on.substr(colon + 1);
  if (kind == "slurm") return MakeSlurm(where, options);
  if (kind == "kubernetes") return MakeKubernetes(where, options);
  if (kind == "hf") return MakeHubJobs(where, options);
  return InputError(fmt::format("--on {}: expected slurm[:PARTITION], kubernetes[:NAMESPACE] or hf:NAMESPACE/BUCKET{}",
                                ExcerptLine(on, 60), DidYouMean(kind, {"slurm", "kubernetes", "hf"})));
}

// What a run in shards can't be.
Status CheckOptions(const EvalOptions& options) {
  if (options.skills.size() > 1 || !options.changed_since.empty())
    return InputError("--on measures one skill; run it once for each skill");
  if (options.against.starts_with("git:"))
    return InputError(
        "--on: jobs can't read the previous version from git; give its folder instead (--against DIR), which is "
        "copied");
  if (!options.shard.empty()) return InputError("--on makes the shards itself: leave out --shard");
  if (!options.log_runs) return InputError("--on needs the runs folder; leave out --no-log-runs");
  if (options.stop_when_decided) {
    return InputError(
        "--stop-when-decided needs complete rounds, which a shard doesn't have: leave out one of the two");
  }
  for (const std::string& url : options.base_urls) {
    const Result<HttpUrl> parsed = ParseHttpUrl(url);
    if (parsed && !parsed->password.empty()) {
      return InputError(
          "--on keeps its command in files: leave the password out of --base-url, and give the jobs a key in their "
          "environment");
    }
  }
  if (options.activation.on) return InputError("--on can't measure activation: leave out --activation");
  if (!options.gate.empty()) {
    const Result<Gate> gate = ParseGate(options.gate);
    if (!gate) return gate.error();
  }
  if (options.resume.empty() && !options.shards) return InputError("--on needs the number of jobs to make: --shards N");
  return {};
}

// A new run: everything that can be wrong with skill, cases and gate is found before anything is submitted.
Status StartRun(const CLI::App& command, const Config& config, JobSession& session, Env& env) {
  EvalOptions& options = session.options;
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options.skill));
  RETURN_IF_ERROR(WriteMissingTests(skill, options, config, env));
  ASSIGN_OR_RETURN(const MeasureSpec spec, SpecOf(skill, options, config, DefaultSandbox(), env.stop));
  const std::size_t parts = spec.suite.cases.size() * static_cast<std::size_t>(spec.rounds) * spec.students.size();
  if (static_cast<std::size_t>(*options.shards) > parts) {
    return InputError(
        fmt::format("--shards {}: the run (cases × rounds × models) has only {} to divide: give at most {}",
                    *options.shards, Counted(parts, "part"), parts));
  }
  RETURN_IF_ERROR(session.engine->CheckPlaces(
      {fs::current_path(), fs::absolute(options.skill).lexically_normal(), session.runs_dir}));
  JobRecord& record = session.record;
  record.created = UtcTimestamp(env.clock->WallNow());
  record.engine = options.on;
  record.shards = *options.shards;
  record.job_options = options.job_options;
  record.arguments = ShardArguments(command);
  record.max_cost_usd = options.max_cost_usd;
  record.max_tokens = options.max_tokens_total;
  record.gate = options.gate;
  RETURN_IF_ERROR(MakeRunsFolder(session.runs_dir));
  ASSIGN_OR_RETURN(session.folder, MakeStampedFolder(session.runs_dir, env.clock->WallNow()));
  return StoreJobRecord(session.folder, record);
}

Status ResumeJobs(const CLI::App& command, JobSession& session) {
  EvalOptions& options = session.options;
  ASSIGN_OR_RETURN(const std::optional<fs::path> found,
                   PickStampedFolder(StampedFolders(session.runs_dir, kJobsFile), options.resume));
  if (!found) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("no run '{}' with jobs in {}", options.resume, session.runs_dir.string())};
  }
  session.folder = *found;
  ASSIGN_OR_RETURN(session.record, LoadJobRecord(session.folder));
  JobRecord& record = session.record;
  const std::string name = session.folder.filename().string();
  if (record.engine != options.on)
    return InputError(fmt::format("run {} was started with --on {}", name, ShellWord(record.engine)));
  if (options.shards && *options.shards != record.shards)
    return InputError(fmt::format("run {} has {}", name, Counted(static_cast<std::size_t>(record.shards), "shard")));
  if (record.job_options != options.job_options) {
    std::string given;
    for (const std::string& option : record.job_options) given += " --job-option " + ShellWord(option);
    return InputError(fmt::format("run {} was started with{}: give the same options to resume it", name,
                                  given.empty() ? "out --job-option" : given));
  }
  ASSIGN_OR_RETURN(record.arguments, ConfirmedArguments(command, record.arguments));
  if (options.max_cost_usd) record.max_cost_usd = options.max_cost_usd;
  if (options.max_tokens_total) record.max_tokens = options.max_tokens_total;
  if (!options.gate.empty()) record.gate = options.gate;
  return {};
}

Result<JobSession> OpenSession(const CLI::App& command, const EvalOptions& given, Env& env) {
  JobSession session;
  session.options = given;
  session.options.skill = given.skills.front();
  RETURN_IF_ERROR(CheckOptions(given));
  ASSIGN_OR_RETURN(const Config config, LoadConfig(env));
  ASSIGN_OR_RETURN(session.engine, MakeEngine(given.on, given.job_options));
  session.runs_dir = fs::absolute(RunsFolder(given.runs_dir, config)).lexically_normal();
  RETURN_IF_ERROR(given.resume.empty() ? StartRun(command, config, session, env) : ResumeJobs(command, session));
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(session.folder));
  ASSIGN_OR_RETURN(Folder shards, folder.MakeBelow("shards"));
  RETURN_IF_ERROR(folder.MakeBelow("jobs"));
  const Status locked = shards.Lock(std::chrono::milliseconds(0));
  if (!locked) {
    return InputError(fmt::format("another process follows run {} already: {}", session.folder.filename().string(),
                                  locked.error().message));
  }
  session.lock.emplace(std::move(shards));
  return session;
}

// The part of what is left of the limits that each of `count` shards may use.
Status AddLimits(const JobSession& session, std::size_t count, JobArray& array) {
  const JobRecord& record = session.record;
  if (!record.max_cost_usd && !record.max_tokens) return {};
  ASSIGN_OR_RETURN(const Spending spent, SpentByShards(session.folder, record.shards));
  array.restarts = false;  // or a restarted task might spend its part twice
  if (record.max_cost_usd) {
    const double part = (*record.max_cost_usd - spent.usd) / static_cast<double>(count);
    if (!(part > 0.0)) {
      return Error{ErrorKind::kPermanent,
                   fmt::format("{} of {} spent", MoneyText(spent.usd), MoneyText(*record.max_cost_usd))};
    }
    array.command.push_back(fmt::format("--max-cost={}", part));
  }
  if (record.max_tokens) {
    const std::int64_t part = (*record.max_tokens - spent.tokens) / static_cast<std::int64_t>(count);
    if (part < 1) {
      return Error{ErrorKind::kPermanent,
                   fmt::format("{} of {} tokens used", WithThousands(spent.tokens), WithThousands(*record.max_tokens))};
    }
    array.command.push_back(fmt::format("--max-tokens-total={}", part));
  }
  return {};
}

Result<JobArray> ArrayFor(const JobSession& session, const CLI::App& command, std::size_t count, const Env& env) {
  JobArray array;
  array.working_folder = fs::current_path();
  array.command.push_back(env.program.string());
  for (const std::string& word : GlobalArguments(command)) array.command.push_back(word);
  array.command.insert(array.command.end(), {"eval", session.options.skill});
  array.command.insert(array.command.end(), session.record.arguments.begin(), session.record.arguments.end());
  array.command.emplace_back("--quiet");
  if (session.engine->shares_folders()) {
    array.command.push_back("--cache-from=" + session.runs_dir.string());
    for (const std::string& folder : session.options.cache_from)
      array.command.push_back("--cache-from=" + fs::absolute(folder).string());
  } else if (!session.options.cache_from.empty()) {
    return InputError("--cache-from needs folders that the jobs share with this machine");
  }
  array.inputs.push_back(session.options.skill);
  for (const std::string& argument : session.record.arguments) {
    for (const std::string_view option : {"--tests=", "--against="}) {
      if (argument.starts_with(option)) array.inputs.push_back(argument.substr(option.size()));
    }
  }
  RETURN_IF_ERROR(AddLimits(session, count, array));
  return array;
}

void PrintProgress(const JobSession& session, const ShardCounts& counts, const Env& env) {
  if (session.options.quiet) return;
  std::string text =
      fmt::format("{} of {} done", counts.done, Counted(static_cast<std::size_t>(session.record.shards), "shard"));
  if (counts.running > 0) text += fmt::format(", {} running", counts.running);
  if (counts.waiting > 0)
    text += fmt::format(", {} waiting{}", counts.waiting,
                        counts.waiting_for.empty() ? "" : " (" + counts.waiting_for + ")");
  if (counts.failed > 0) text += fmt::format(", {} failed", counts.failed);
  env.error(TerminalText::Format("{}\n", text));
}

Result<FollowOutcome> Follow(JobSession& session, const CLI::App& command, Env& env) {
  const EvalOptions& options = session.options;
  const RunTerms terms{session.record.gate, session.record.max_cost_usd, session.record.max_tokens,
                       options.timeout_seconds};
  FollowedRun run;
  run.complete = [completion = ShardCompletion(session.folder)](int shard) mutable {
    return completion.IsComplete(shard);
  };
  run.merge = [&](const std::vector<int>& shards) -> Status {
    RETURN_IF_ERROR(MergeShards(session.folder, shards, *env.clock));
    return TakeTerms(session.folder, session.runs_dir, terms, options.ledger, options.use_cache && !options.refresh,
                     session.record);
  };
  run.array = [&](const std::vector<int>& shards) { return ArrayFor(session, command, shards.size(), env); };
  run.progress = [&, last = ShardCounts()](const ShardCounts& counts) mutable {
    if (counts != last) PrintProgress(session, counts, env);
    last = counts;
  };
  run.note = [&](const std::string& text) { env.error(TerminalText::Format("note: {}\n", text)); };
  return FollowJobs(*session.engine, session.folder, session.record, run, *env.clock, env.stop);
}

std::string ResumeJobsLine(const JobSession& session, const CLI::App& command) {
  const EvalOptions& options = session.options;
  std::string line = "upskill";
  for (const std::string& word : GlobalArguments(command)) line += " " + word;
  line += " eval " + ShellWord(options.skill) + " --on " + ShellWord(session.record.engine);
  for (const std::string& option : session.record.job_options) line += " --job-option " + ShellWord(option);
  for (const std::string& argument : ArgumentsToRepeat(session.record.arguments)) line += " " + ShellWord(argument);
  if (!options.runs_dir.empty()) line += " --runs-dir " + ShellWord(options.runs_dir);
  return line + " --resume " + ShellWord(session.folder.filename().string());
}

ExitCode PrintRun(const JobSession& session, const JudgedRun& run, Env& env) {
  const EvalOptions& options = session.options;
  std::optional<Gate> gate;
  if (!session.record.gate.empty()) {
    Result<Gate> parsed = ParseGate(session.record.gate, run.plan());
    if (!parsed) return PrintError(env, parsed.error());
    gate = *std::move(parsed);
  }
  if (options.json) {
    Json document = EvalToJson(run);
    document["gate"] = gate ? GateToJson(*gate, run) : Json(nullptr);
    PrintDocument(env, DumpJsonIndented(document) + "\n");
  } else {
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    env.out(EvalHead(run, style) + "\n" + ResultLines(run, style) + "\n");
    env.out(run.plan().students.size() > 1 ? EvalTable(run, style) : EvalBars(run, style));
    env.out(TerminalText::Format("run {} · {}\n", run.plan().run, session.folder.string()));
  }
  if (!run.summary.complete()) {
    if (gate) env.error("gate not evaluated: the run is incomplete\n");
    return ExitCode::kIncomplete;
  }
  return !gate || PrintGate(*gate, run, options.color, env) ? ExitCode::kSuccess : ExitCode::kFailed;
}

// As far as the engine has said.
bool HasSubmitted(const JobRecord& record) {
  return std::any_of(record.submissions.begin(), record.submissions.end(),
                     [](const JobSubmission& submission) { return !submission.id.empty(); });
}

ExitCode ConcludeJobs(const JobSession& session, const FollowOutcome& outcome, const CLI::App& command, Env& env) {
  const std::string resume = ResumeJobsLine(session, command);
  for (const std::string& problem : outcome.problems) env.error(TerminalText::Format("error: {}\n", problem));
  if (outcome.detached) {
    const char* const state = !HasSubmitted(session.record) ? "no job was submitted"
                              : outcome.cancelled           ? "the jobs are cancelled"
                                                            : "the jobs keep running";
    env.error(TerminalText::Format("{}. Continue with:\n  {}\n", state, resume));
    return ExitCode::kInterrupted;
  }
  std::error_code code;
  if (!fs::exists(session.folder / "plan.json", code)) {
    env.error(TerminalText::Format("no shard has answered anything. To try again:\n  {}\n", resume));
    return ExitCode::kIncomplete;
  }
  const Result<JudgedRun> run = LoadRun(session.folder);
  if (!run) return PrintError(env, run.error());
  if (const Status files = WriteRunFiles(*run, session.folder); !files)
    PrintWarning(env, "files for other programs could not be written: " + files.error().message);
  const ExitCode result = PrintRun(session, *run, env);
  if (const Status noted = NoteLook(session.runs_dir, *run, *env.clock); !noted)
    PrintWarning(env, "this look at the tests could not be counted: " + noted.error().message);
  if (run->summary.complete()) return result;
  env.error(TerminalText::Format("{} of {} cells answered. Continue with:\n  {}\n",
                                 WithThousands(static_cast<long long>(run->summary.answered)),
                                 WithThousands(static_cast<long long>(run->summary.cells)), resume));
  return result;
}

// `eval --on`: has the shards of a run measured by an engine's jobs, follows them, and merges what they answer into an
// ordinary run. `command` has been parsed into `options`.
ExitCode RunEvalOn(const CLI::App& command, const EvalOptions& options, Env& env) {
  Result<JobSession> session = OpenSession(command, options, env);
  if (!session) return PrintError(env, session.error());
  const Result<FollowOutcome> outcome = Follow(*session, command, env);
  if (outcome) return ConcludeJobs(*session, *outcome, command, env);
  const ExitCode code = PrintError(env, outcome.error());
  const std::string resume = ResumeJobsLine(*session, command);
  std::error_code ignored;
  if (fs::exists(session->folder / "plan.json", ignored)) {
    env.error(TerminalText::Format("the answers so far are saved; fix the cause and continue with:\n  {}\n", resume));
  } else {
    env.error(TerminalText::Format("{}fix the cause and try again with:\n  {}\n",
                                   HasSubmitted(session->record) ? "" : "no job was submitted; ", resume));
  }
  return code;
}

ExitCode RunEvalHereOrAsJobs(const CLI::App& app, const EvalOptions& options, Env& env) {
  return options.on.empty() ? RunEval(options, env) : RunEvalOn(*app.get_subcommand("eval"), options, env);
}

}  // namespace

Command EvalCommand() { return CommandOf({"eval"}, AddEvalCommand, RunEvalHereOrAsJobs); }
Command BenchmarkCommand() { return CommandOf({"benchmark"}, AddBenchmarkCommand, RunEval); }

}  // namespace upskill
