// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "check/check.h"
#include "check/suite_answers.h"
#include "cli/activation_plan.h"
#include "cli/eval_tests.h"
#include "cli/judge_option.h"
#include "cli/resume_checks.h"
#include "cli/students.h"
#include "eval/cache.h"
#include "eval/gate_forecast.h"
#include "eval/ledger.h"
#include "eval/placebo.h"
#include "eval/prompts.h"
#include "eval/same_run.h"
#include "eval/verdict.h"
#include "measure/share.h"
#include "model/model_spec.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

RunTerms TermsOf(const EvalOptions& options) {
  return {options.gate, options.max_cost_usd, options.max_tokens_total, options.timeout_seconds};
}

Result<Shard> ParseShard(std::string_view text) {
  const auto bad = [&] {
    return InputError(fmt::format("--shard {}: expected K/N with K from 1 to N, for example 2/8", text));
  };
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return bad();
  const auto of = ParseWholeNumber(text.substr(slash + 1), 1, 1'000'000);
  const auto index = of ? ParseWholeNumber(text.substr(0, slash), 1, *of) : of;
  if (!index) return bad();
  return Shard{static_cast<int>(*index - 1), static_cast<int>(*of)};
}

Result<Plan> PlanOfActivation(const EvalOptions& options, Env& env) {
  Result<Plan> plan = ActivationPlan(options);
  if (plan && !options.quiet) {
    for (const std::string& warning : plan->suite.warnings) PrintWarning(env, warning);
  }
  return plan;
}

// The error for a skill without cases says how to have some written.
Result<Suite> CasesFor(const Skill& skill, const EvalOptions& options, const Config& config) {
  Result<Suite> suite = LoadCases(options.tests, skill.folder);
  if (suite || suite.error().kind != ErrorKind::kNotFound || !options.tests.empty()) return suite;
  return Error{ErrorKind::kNotFound, fmt::format("{}, or have a model write some:\n{}", suite.error().message,
                                                 TestsCommand(options, config))};
}

// The plan without its students.
Result<Plan> MakePlan(const EvalOptions& options, const Config& config, const Sandbox& sandbox, Env& env) {
  if (options.activation.on) return PlanOfActivation(options, env);
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options.skill));
  Plan plan;
  ASSIGN_OR_RETURN(plan.suite, CasesFor(skill, options, config));
  plan.skill = Snapshot(skill);
  if (!options.no_baseline) plan.arms.push_back(Arm::kBaseline);
  if (!options.only_baseline) plan.arms.push_back(Arm::kSkill);
  if (options.placebo) {
    plan.arms.push_back(Arm::kPlacebo);
    plan.placebo = PlaceboText(skill.body.size());
  }
  if (!options.against.empty()) {
    ASSIGN_OR_RETURN(const Skill previous, LoadSkill(options.against));
    plan.arms.push_back(Arm::kPrevious);
    plan.previous = Snapshot(previous);
    if (plan.previous.sha256 == plan.skill.sha256) {
      return InputError(
          fmt::format("{} and {} have the same text; there is nothing to compare", options.skill, options.against));
    }
  }
  plan.rounds = options.rounds_or_default();
  plan.sampling.temperature = options.temperature;
  plan.sampling.max_tokens = options.max_tokens;
  plan.sampling.seed = options.seed;
  plan.system_prompt = BuiltInSystemPrompt();
  plan.verdict = {options.alpha, options.margin_points / 100.0, options.min_lift_points / 100.0};
  plan.terms = TermsOf(options);
  plan.stop_when_decided = options.stop_when_decided;
  plan.offers_cache = options.use_cache;
  if (!options.shard.empty()) {
    ASSIGN_OR_RETURN(plan.shard, ParseShard(options.shard));
    if (plan.stop_when_decided)
      return InputError(
          "--stop-when-decided needs complete rounds, which a shard doesn't have: leave out one of the two");
  }
  if (plan.stop_when_decided && !plan.has_arm(ComparedArm(plan))) {
    return InputError("--stop-when-decided needs an arm to compare with: leave out --no-baseline, or add --against");
  }
  RETURN_IF_ERROR(CheckWrongAnswers(plan.suite));
  ASSIGN_OR_RETURN(plan.left_out, LeaveOutCasesThatCannotPass(plan.suite, sandbox, !options.judge_model.empty(),
                                                              ModeOf(options.workspace)));
  ASSIGN_OR_RETURN(const std::vector<std::string> weaknesses, FindSuiteWeaknesses(plan.suite, env.stop, sandbox));
  ASSIGN_OR_RETURN(plan.workspace, WorkspacePlanOf(options.workspace, plan));
  if (!options.quiet) {
    for (const std::string& line : CasesThatStayAnswers(options.workspace, plan)) PrintWarning(env, line);
    for (const std::string& warning : skill.warnings) PrintWarning(env, warning);
    for (const std::string& warning : plan.suite.warnings) PrintWarning(env, warning);
    for (const std::string& warning : plan.left_out) PrintWarning(env, warning);
    for (const std::string& warning : weaknesses) PrintWarning(env, warning);
  } else if (!options.gate.empty() && !plan.left_out.empty()) {
    PrintWarning(env, fmt::format("the gate is about fewer cases: {} left out", Counted(plan.left_out.size(), "case")));
  }
  return plan;
}

ModelOptions ModelOptionsOf(const EvalOptions& options, const fs::path& runs_dir) {
  ModelOptions model_options;
  if (options.batch) {
    const bool fresh = options.resume.empty() && (!options.use_cache || options.refresh);
    const BatchNotes::Use use = fresh                    ? BatchNotes::Use::kIgnored
                                : options.resume.empty() ? BatchNotes::Use::kShared
                                                         : BatchNotes::Use::kAll;
    model_options.batches = ModelOptions::Batches{runs_dir / "batches.jsonl", use, options.use_cache};
  }
  model_options.parallel = options.parallel;
  model_options.quiet = options.quiet;
  model_options.base_urls = options.base_urls;
  model_options.client = std::make_shared<HttpClient>();  // shared by the models, which end it together
  return model_options;
}

// Opens the models; two that are the same are an error, and so is a cost limit that can't be held.
Result<std::vector<std::unique_ptr<Model>>> OpenModels(const std::vector<std::string>& specs,
                                                       const EvalOptions& options, const ModelOptions& model_options,
                                                       const Env& env) {
  std::vector<std::unique_ptr<Model>> models;
  for (const std::string& spec : specs) {
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, OpenModel(spec, model_options, env));
    if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*model, spec));
    models.push_back(std::move(model));
  }
  RETURN_IF_ERROR(CheckModelsDiffer(models, specs));
  return models;
}

// A gate that names a model which isn't there, or that can't hold with the share of alpha that the run has, should cost
// nothing.
Status TakeGate(const EvalOptions& options, Env& env, EvalSession& session) {
  if (options.gate.empty()) return {};
  ASSIGN_OR_RETURN(session.gate, ParseGate(options.gate));
  RETURN_IF_ERROR(CheckGateModels(*session.gate, session.plan));
  if (!options.resume.empty()) return {};
  ASSIGN_OR_RETURN(const std::vector<std::string> warnings, ForecastGate(*session.gate, session.plan));
  if (!options.quiet) {
    for (const std::string& warning : warnings) PrintWarning(env, warning);
  }
  return {};
}

// Splits alpha among the comparisons of the run and, unless they aren't to be counted, with the earlier looks at its
// tests.
Result<TakenShare> ShareAlpha(const EvalOptions& options, const Config& config, Env& env, EvalSession& session) {
  session.plan.share.comparisons = std::max(1, static_cast<int>(session.plan.arms.size()) - 1);
  Result<TakenShare> share = TakenShare::Take(session.runs_dir,
                                              {.counts = options.ledger && config.ledger,
                                               .notes = options.log_runs,
                                               .reuses_answers = options.use_cache && !options.refresh,
                                               .looks_before = 0},
                                              session.plan);
  if (!share) return share.error().With("counting earlier looks at the tests (--no-ledger ignores them)");
  if (share->skipped_lines() > 0 && !options.quiet) {
    PrintWarning(env, fmt::format("{} of {} could not be read: earlier looks at these tests may not be counted",
                                  Counted(share->skipped_lines(), "line"), (session.runs_dir / kLedgerFile).string()));
  }
  return share;
}

// The servers of --base-url are those of the students, and a batch is no place for a judge, which is waited for.
Status TakeJudge(const EvalOptions& options, ModelOptions model_options, Env& env, EvalSession& session) {
  model_options.batches.reset();
  ASSIGN_OR_RETURN(OpenedJudge judge,
                   OpenJudge(options.judge_model, model_options, session.plan.suite, session.runs_dir, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge.model, options.judge_model));
  if (judge.described.rubrics == 0) {
    if (!options.quiet)
      PrintWarning(env, "--judge-model: no check of these cases asks a judge (`upskill help checks`)");
    return {};
  }
  for (const Student& student : session.plan.students) {
    if (student.identity != judge.described.identity || options.quiet) continue;
    PrintWarning(env, fmt::format("{} judges its own answers; models favour what they wrote themselves: name another "
                                  "model with --judge-model",
                                  student.name));
  }
  session.judge = std::move(judge.model);
  session.plan.judge = std::move(judge.described);
  return {};
}

// The runs folder's own answers first: a shard that is started again has paid for them itself.
Result<std::vector<Sample>> CachedFrom(const EvalOptions& options, const EvalSession& session) {
  ASSIGN_OR_RETURN(std::vector<Sample> cached, CachedSamplesOf(session.plan, session.runs_dir));
  std::set<std::string> cells;
  for (const Sample& sample : cached) cells.insert(CellName(sample));
  for (const std::string& folder : options.cache_from) {
    ASSIGN_OR_RETURN(std::vector<Sample> more, CachedSamplesOf(session.plan, folder));
    for (Sample& sample : more) {
      if (cells.insert(CellName(sample)).second) cached.push_back(std::move(sample));
    }
  }
  return cached;
}

// Stores what the run is to keep to from now on, also when it is resumed once more. `stored`: what its plan says.
Status StoreTerms(const EvalOptions& options, const RunTerms& stored, EvalSession& session) {
  session.plan.terms = TermsOf(options);
  if (options.batch) {  // which is given no limits (RecallTerms)
    session.plan.terms.max_cost_usd = stored.max_cost_usd;
    session.plan.terms.max_tokens = stored.max_tokens;
  }
  return session.plan.terms == stored ? Status() : session.journal->StorePlan(session.plan);
}

// Takes up the run in `folder`, whose plan and models the session has.
Status TakeUpJournal(const EvalOptions& options, const fs::path& folder, const RunTerms& stored, Env& env,
                     EvalSession& session) {
  ASSIGN_OR_RETURN(session.journal, Journal::Reopen(folder, *env.clock));
  RETURN_IF_ERROR(StoreTerms(options, stored, session));
  ASSIGN_OR_RETURN(JournalContent content, ReadJournal(folder));
  session.resumed = std::move(content.samples);
  session.resumes_same_run = true;
  if (content.skipped_lines > 0 && !options.quiet) {
    PrintWarning(env, fmt::format("{} of {} could not be read; cells without another answer are requested again",
                                  Counted(content.skipped_lines, "line"), (folder / "samples.jsonl").string()));
  }
  const bool answered = std::any_of(session.resumed.begin(), session.resumed.end(),
                                    [](const Sample& sample) { return sample.ok() || sample.keeps_answer; });
  return TakeShareAgain(session.runs_dir, answered, *session.journal, session.plan);
}

// Goes on with a run that asks what the session's plan asks; nothing is left to do if it has all answers.
Status ResumeSameRun(const EvalOptions& options, const SameRun& same, Env& env, EvalSession& session) {
  ASSIGN_OR_RETURN(session.plan, LoadPlan(same.folder));
  const RunTerms stored = session.plan.terms;
  RETURN_IF_ERROR(TakeGate(options, env, session));
  if (same.lacks_answers && !options.quiet)
    env.error(TerminalText::Format("note: resuming run {}, which lacks answers\n", session.plan.run));
  return TakeUpJournal(options, same.folder, stored, env, session);
}

Status NewRun(const EvalOptions& options, const Config& config, Env& env, EvalSession& session) {
  ASSIGN_OR_RETURN(session.plan, MakePlan(options, config, *session.sandbox, env));
  const std::vector<std::string> specs = ChooseModels(options.models, config);
  const ModelOptions model_options = ModelOptionsOf(options, session.runs_dir);
  ASSIGN_OR_RETURN(session.models, OpenModels(specs, options, model_options, env));
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ModelInfo& info = session.models[i]->info();
    session.plan.students.push_back({specs[i], info.name, info.identity});
  }
  RETURN_IF_ERROR(CheckThatStudentsCanAct(session.plan, session.models, *session.sandbox, options.batch));
  ASSIGN_OR_RETURN(session.mcp, McpAccessOf(session.plan, options.workspace.mcp, env));
  if (!options.judge_model.empty()) RETURN_IF_ERROR(TakeJudge(options, model_options, env, session));
  if (options.resumes_same_run && options.log_runs && !options.refresh) {
    const std::optional<SameRun> same = FindSameRun(session.plan, session.runs_dir);
    if (same && (same->lacks_answers || options.use_cache)) return ResumeSameRun(options, *same, env, session);
  }
  ASSIGN_OR_RETURN(TakenShare share, ShareAlpha(options, config, env, session));
  RETURN_IF_ERROR(TakeGate(options, env, session));
  if (options.use_cache && !options.refresh) {
    ASSIGN_OR_RETURN(session.cached, CachedFrom(options, session));
  }
  if (options.log_runs) {
    ASSIGN_OR_RETURN(session.journal, Journal::Create(session.runs_dir, session.plan, *env.clock));
    if (const Status noted = share.NoteStart(session.plan); !noted) {
      session.journal->Discard();
      return noted;
    }
  }
  return {};
}

Result<fs::path> RunToResume(const EvalOptions& options, const fs::path& runs_dir) {
  Result<fs::path> found = ResolveRun(runs_dir, options.resume);
  if (found || !FindRuns(runs_dir).empty()) return found;
  return Error{found.error().kind,
               fmt::format("no run to resume in {}; leave out --resume to start one", runs_dir.string())};
}

// The judge that the run was started with; a command or a server of its own must be named again (CheckAgainstPlan).
Status ReopenJudge(const EvalOptions& options, ModelOptions model_options, Env& env, EvalSession& session) {
  const RunJudge& stored = *session.plan.judge;
  const bool confirmed = options.judge_model == stored.spec;
  if (!options.judge_model.empty() && !confirmed) {
    return InputError(
        fmt::format("run {} is judged by '{}', not '{}'; start a new run, or recheck this one with "
                    "`upskill recheck --judge-model`",
                    session.plan.run, stored.spec, options.judge_model));
  }
  const bool runs_something = stored.spec.starts_with(kCommandPrefix) || stored.spec.starts_with(kDeskPrefix);
  if (runs_something && !confirmed) {
    return InputError(fmt::format("run {} is judged by '{}': to confirm that it may be used, repeat --judge-model {}",
                                  session.plan.run, stored.spec, ShellWord(stored.spec)));
  }
  RETURN_IF_ERROR(CheckServerIsNamed(options, session.plan.run, {stored.spec, stored.name, stored.identity}));
  model_options.batches.reset();
  ASSIGN_OR_RETURN(OpenedJudge judge, OpenJudge(stored.spec, model_options, session.plan.suite, session.runs_dir, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge.model, stored.spec));
  if (judge.described.identity != stored.identity) {
    return InputError(
        fmt::format("the judge '{}' has changed since run {} started; start a new run", stored.spec, session.plan.run));
  }
  session.judge = std::move(judge.model);
  return {};
}

// Resumes a run as its plan.json says; the skill on disk may have changed since.
Status ResumeRun(const EvalOptions& options, Env& env, EvalSession& session) {
  if (!options.log_runs) return InputError("--resume can't be combined with --no-log-runs: it continues a logged run");
  ASSIGN_OR_RETURN(const fs::path folder, RunToResume(options, session.runs_dir));
  ASSIGN_OR_RETURN(session.plan, LoadPlan(folder));
  RETURN_IF_ERROR(RefuseImported(session.plan, "resume"));
  const RunTerms stored = session.plan.terms;
  RETURN_IF_ERROR(CheckAgainstPlan(options, session.plan));
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(options.skill));
  if (skill.name != session.plan.skill.name) {
    return InputError(
        fmt::format("run {} measures the skill '{}', not '{}'", session.plan.run, session.plan.skill.name, skill.name));
  }
  if (Snapshot(skill).sha256 != session.plan.skill.sha256 && !options.quiet) {
    env.error(TerminalText::Format(
        "note: the skill has changed since run {} started; the run continues with the old version\n",
        session.plan.run));
  }
  Suite suite = session.plan.suite;
  std::vector<std::string> left_out;
  if (!session.plan.measures_activation()) {
    ASSIGN_OR_RETURN(left_out, LeaveOutCasesThatCannotPass(suite, *session.sandbox, session.plan.judge.has_value(),
                                                           session.plan.mode_of_all()));
  }
  if (!left_out.empty()) {
    return InputError(fmt::format("run {} can't be resumed here: {}", session.plan.run, left_out.front()));
  }
  RETURN_IF_ERROR(TakeGate(options, env, session));
  for (const Student& student : session.plan.students)
    RETURN_IF_ERROR(CheckServerIsNamed(options, session.plan.run, student));
  std::vector<std::string> specs;
  specs.reserve(session.plan.students.size());
  for (const Student& student : session.plan.students) specs.push_back(student.spec);
  const ModelOptions model_options = ModelOptionsOf(options, session.runs_dir);
  ASSIGN_OR_RETURN(session.models, OpenModels(specs, options, model_options, env));
  RETURN_IF_ERROR(CheckThatStudentsCanAct(session.plan, session.models, *session.sandbox, options.batch));
  ASSIGN_OR_RETURN(session.mcp, McpAccessOf(session.plan, options.workspace.mcp, env));
  if (session.plan.judge) RETURN_IF_ERROR(ReopenJudge(options, model_options, env, session));
  for (std::size_t i = 0; i < session.models.size(); ++i) {
    const Student& student = session.plan.students[i];
    if (session.models[i]->info().identity == student.identity) continue;
    const std::string servers = ServerOptions(student);
    return InputError(fmt::format("model '{}' has changed since run {} started; start a new run{}", specs[i],
                                  session.plan.run,
                                  servers.empty() ? "" : ", or name the servers that it used:" + servers));
  }
  return TakeUpJournal(options, folder, stored, env, session);
}

}  // namespace

Result<Suite> LoadCases(const std::string& tests, const fs::path& skill_folder) {
  if (!tests.empty()) return LoadSuite(tests, skill_folder);
  Result<Suite> suite = LoadSuiteOfSkill(skill_folder);
  if (suite || suite.error().kind != ErrorKind::kNotFound) return suite;
  // A file without cases has said what to do already.
  const std::string& message = suite.error().message;
  return Error{ErrorKind::kNotFound,
               message.substr(0, message.find("; write some under")) +
                   "; write one (`upskill help files` shows the format), or name one with -t FILE"};
}

Status RecallTerms(EvalOptions& options, const Config& config, Env& env) {
  if (options.resume.empty()) return {};
  ASSIGN_OR_RETURN(const fs::path folder, RunToResume(options, RunsFolder(options.runs_dir, config)));
  ASSIGN_OR_RETURN(const Plan plan, LoadPlan(folder));
  std::vector<std::string> recalled;
  const auto recall = [&recalled](auto& given, const auto& stored, bool is_given, const std::string& text) {
    if (is_given || text.empty()) return;
    given = stored;
    recalled.push_back(text);
  };
  const RunTerms& terms = plan.terms;
  recall(options.gate, terms.gate, !options.gate.empty(), terms.gate.empty() ? "" : "--gate " + ShellWord(terms.gate));
  if (!options.batch) {
    recall(options.max_cost_usd, terms.max_cost_usd, options.max_cost_usd.has_value(),
           terms.max_cost_usd ? fmt::format("--max-cost {}", *terms.max_cost_usd) : "");
    recall(options.max_tokens_total, terms.max_tokens, options.max_tokens_total.has_value(),
           terms.max_tokens ? fmt::format("--max-tokens-total {}", *terms.max_tokens) : "");
  }
  recall(options.timeout_seconds, terms.timeout_seconds, options.timeout_seconds.has_value(),
         terms.timeout_seconds ? fmt::format("--timeout {}s", *terms.timeout_seconds) : "");
  if (!recalled.empty() && !options.quiet) {
    env.error(TerminalText::Format("note: as when run {} started: {}\n", plan.run, TerminalText::Join(recalled, " ")));
  }
  return {};
}

std::vector<std::string> ChooseModels(const std::vector<std::string>& given, const Config& config) {
  if (!given.empty()) return given;
  if (!config.eval_model.empty()) return {config.eval_model};
  if (!config.skill_generation_model.empty()) return {config.skill_generation_model};
  return {std::string(kEmbeddedModel)};
}

Result<EvalSession> OpenEvalSession(const EvalOptions& options, const Config& config, Env& env) {
  EvalSession session;
  session.runs_dir = RunsFolder(options.runs_dir, config);
  ASSIGN_OR_RETURN(SandboxOptions sandbox, SandboxOptionsOf(options.sandbox, env));
  session.sandbox = std::make_unique<Sandbox>(std::move(sandbox));
  RETURN_IF_ERROR(options.resume.empty() ? NewRun(options, config, env, session) : ResumeRun(options, env, session));
  const McpChoice& mcp = options.workspace.mcp;
  if (session.mcp.client == nullptr && (!mcp.urls.empty() || !mcp.variables.empty())) {
    PrintWarning(env, fmt::format("{} isn't used: no case has an MCP server at a URL",
                                  mcp.urls.empty() ? "--mcp-env" : "--mcp-url"));
  }
  std::optional<fs::path> folder;
  if (session.journal) folder = session.journal->folder();
  RETURN_IF_ERROR(LetStudentsAct(session.plan, *session.sandbox, folder, session.mcp, session.models));
  return session;
}

}  // namespace upskill
