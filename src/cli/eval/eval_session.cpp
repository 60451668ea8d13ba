// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/eval_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "check/check.h"
#include "check/task_reader.h"
#include "cli/eval/activation_plan.h"
#include "cli/eval/eval_tests.h"
#include "cli/eval/resumed_options.h"
#include "cli/eval/run_demand.h"
#include "cli/eval/workspace_option.h"
#include "cli/models/judge_option.h"
#include "cli/models/students.h"
#include "cli/options/mcp_access.h"
#include "cli/skills/changed_skills.h"
#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "eval/plan/prompts.h"
#include "measure/workspace.h"
#include "model/model_spec.h"
#include "report/export/run_files.h"
#include "skill/skill.h"
#include "skill/skill_tree.h"
#include "util/temp_folder.h"
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

// The error for a skill without cases says how to have some written.
Result<Suite> CasesFor(const Skill& skill, const EvalOptions& options, const Config& config, const Sandbox& sandbox,
                       const StopFlag* stop) {
  Result<Suite> suite = LoadCases(options.tests, skill.folder, sandbox, stop);
  if (suite || suite.error().kind != ErrorKind::kNotFound || !options.tests.empty()) return suite;
  return Error{ErrorKind::kNotFound, fmt::format("{}, or have a model write some:\n{}", suite.error().message,
                                                 TestsCommand(options, config))};
}

// What doesn't depend on the skill.
Result<MeasureSpec> SettingsOf(const EvalOptions& options, const Config& config) {
  MeasureSpec spec;
  for (const std::string& model : ChooseModels(options.models, config)) spec.students.push_back({model, "", ""});
  spec.judge = options.judge_model;
  spec.rounds = options.rounds_or_default();
  spec.sampling.temperature = options.temperature;
  spec.sampling.max_tokens = options.max_tokens;
  spec.sampling.seed = options.seed;
  spec.system_prompt = BuiltInSystemPrompt();
  spec.verdict = {options.alpha, options.margin_points / 100.0, options.min_lift_points / 100.0};
  spec.terms = TermsOf(options);
  spec.counts_looks = options.ledger && config.ledger;
  spec.is_kept = options.log_runs;
  spec.offers_cache = options.use_cache;
  spec.uses_cache = options.use_cache && !options.refresh;
  spec.cache_from.assign(options.cache_from.begin(), options.cache_from.end());
  spec.batch = options.batch;
  ASSIGN_OR_RETURN(spec.workspace, WorkspaceSpecOf(options.workspace));
  return spec;
}

// The queries, and the skills to choose from.
Status TakeQueries(const Skill& skill, const EvalOptions& options, MeasureSpec& spec) {
  Result<Suite> queries = LoadQueries(options.tests, skill.folder);
  if (!queries && queries.error().kind == ErrorKind::kNotFound) {
    return Error{ErrorKind::kNotFound,
                 queries.error().message + ", or have a model write them with --test-gen-model MODEL"};
  }
  if (!queries) return queries.error();
  spec.suite = *std::move(queries);
  ASSIGN_OR_RETURN(SkillsFound others, OtherSkills(options.activation.among, skill));
  spec.others.emplace();
  for (Skill& other : others.skills)
    spec.others->push_back({other.name, other.description, {{"SKILL.md", std::move(other.text)}}});
  std::move(others.warnings.begin(), others.warnings.end(), std::back_inserter(spec.suite.warnings));
  spec.skill->warnings.clear();
  return {};
}

// A change of cases can hide what a change of the skill breaks: cases of the previous version that were removed are
// measured, too. Of a changed one (with its id or its request), only the present form counts.
void KeepRemovedCases(const Skill& previous, Suite& suite) {
  Result<Suite> before = LoadCases("", previous.folder);
  if (!before) {
    return suite.warnings.push_back("removed cases aren't measured, because the previous version's can't be read: " +
                                    before.error().message);
  }
  constexpr std::size_t kMostNames = 10;
  std::vector<std::string> removed;
  std::size_t changed = 0;
  const std::vector<Case> present = suite.cases;
  for (Case& old : before->cases) {
    if (std::ranges::any_of(present, [&](const Case& one) { return one.raw == old.raw; })) continue;
    const bool is_named = FindMember(old.raw, "id") != nullptr || FindMember(old.raw, "name") != nullptr;
    if (std::ranges::any_of(
            present, [&](const Case& one) { return one.input == old.input || (is_named && one.id == old.id); })) {
      ++changed;
      continue;
    }
    if (const auto checks = CaseChecks::Make(old, DefaultSandbox(), true); !checks) {
      suite.warnings.push_back(
          fmt::format("case {} of the previous version is left out: {}", old.id, checks.error().message));
      continue;
    }
    while (std::ranges::any_of(suite.cases, [&](const Case& one) { return one.id == old.id; })) old.id += "-removed";
    removed.push_back(old.id);
    suite.cases.push_back(std::move(old));
  }
  if (!removed.empty()) {
    suite.warnings.push_back(fmt::format(
        "{} of the previous version's {} {} removed but {} still measured: {}{}; to measure only the cases "
        "in FILE, add -t FILE",
        removed.size(), Counted(before->cases.size(), "case"), removed.size() == 1 ? "was" : "were",
        removed.size() == 1 ? "is" : "are",
        fmt::join(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(std::min(removed.size(), kMostNames)),
                  ", "),
        removed.size() > kMostNames ? fmt::format(" and {} more", removed.size() - kMostNames) : ""));
  }
  if (changed > 0) {
    suite.warnings.push_back(
        fmt::format("{} of the previous version's {} {} changed: both versions are judged by the cases as they are now",
                    changed, Counted(before->cases.size(), "case"), changed == 1 ? "was" : "were"));
  }
}

// The cases, and what the skill is compared with.
Status TakeCases(const Skill& skill, const std::optional<Skill>& previous, const EvalOptions& options,
                 const Config& config, const Sandbox& sandbox, const StopFlag* stop, MeasureSpec& spec) {
  ASSIGN_OR_RETURN(spec.suite, CasesFor(skill, options, config, sandbox, stop));
  spec.baseline = !options.no_baseline;
  spec.placebo = options.placebo;
  spec.stop_when_decided = options.stop_when_decided;
  if (!options.shard.empty()) {
    ASSIGN_OR_RETURN(spec.shard, ParseShard(options.shard));
  }
  if (options.against.empty()) return {};
  if (!previous) spec.baseline = true;
  if (previous && options.tests.empty()) KeepRemovedCases(*previous, spec.suite);
  spec.previous = MeasuredSkill{previous ? Snapshot(*previous) : Snapshot("", ""), std::nullopt, {}};
  return {};
}

constexpr std::string_view kInGit = "git:";

// The skill in the folder `place`, or the one of the same name in a folder of skills; nullopt if there is none. A
// folder's name counts only if no skill has that name. A version from git is written into `copies`.
Result<std::optional<Skill>> PreviousVersion(const std::string& place, const Skill& skill, bool of_several,
                                             const fs::path& copies) {
  if (place.starts_with(kInGit)) {
    ASSIGN_OR_RETURN(const std::optional<fs::path> folder, SkillAt(skill.folder, place.substr(kInGit.size()), copies));
    std::error_code code;
    if (!folder || !fs::exists(*folder / "SKILL.md", code)) return std::optional<Skill>();
    Result<Skill> previous = LoadSkill(folder->string());
    if (!previous)
      return previous.error().With(fmt::format("the previous version of {} ({})", skill.folder.string(), place));
    return std::optional(*std::move(previous));
  }
  std::error_code code;
  std::vector<std::string> folders = {place};
  if (fs::is_directory(place, code)) {
    ASSIGN_OR_RETURN(folders, FindSkillFolders(place));
  }
  if (folders == std::vector<std::string>{place}) {
    ASSIGN_OR_RETURN(Skill previous, LoadSkill(place));
    if (!of_several) return std::optional(std::move(previous));
    return InputError(
        fmt::format("--against {} is a single skill; name a folder with an earlier version of each skill", place));
  }
  // The folder of a base that has none of the skills is empty; another one without any is a mistake.
  if (folders.empty() && !fs::is_empty(place, code))
    return InputError(fmt::format("--against {}: no skill (SKILL.md) in this folder", place));
  const fs::path folder_name = fs::absolute(skill.folder, code).lexically_normal().filename();
  std::vector<std::string> named;
  std::vector<std::string> in_place;
  for (const std::string& folder : folders) {
    const Result<Skill> other = LoadSkill(folder);
    if (other && other->name == skill.name) named.push_back(folder);
    if (fs::path(folder).filename() == folder_name) in_place.push_back(folder);
  }
  if (named.empty()) named = std::move(in_place);
  if (named.empty()) return std::optional<Skill>();
  if (named.size() > 1) {
    return InputError(
        fmt::format("--against {}: there are several skills '{}': {}", place, skill.name, fmt::join(named, ", ")));
  }
  ASSIGN_OR_RETURN(Skill previous, LoadSkill(named.front()));
  return std::optional(std::move(previous));
}

Status ReadFolders(const Skill& skill, const std::optional<Skill>& previous, std::vector<fs::path> runs,
                   MeasureSpec& spec) {
  if (!spec.others && !AnyActs(spec.suite, spec.workspace->mode)) return {};
  // Each version has the same files where another one has its cases.
  std::vector<fs::path> folders = {skill.folder};
  if (previous) folders.push_back(previous->folder);
  runs.insert(runs.end(), spec.cache_from.begin(), spec.cache_from.end());
  const std::vector<std::string> hidden = HiddenPaths(folders, spec.suite, runs);
  if (previous) {
    ASSIGN_OR_RETURN(spec.previous->folder, ReadSkillFolder(*previous, hidden));
  }
  ASSIGN_OR_RETURN(spec.skill->folder, ReadSkillFolder(skill, hidden));
  return {};
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

MeasurePlace PlaceOf(const EvalOptions& options, const Config& config, const Sandbox& sandbox,
                     std::shared_ptr<WrittenTokens> written, Env& env) {
  MeasurePlace place;
  place.runs_dir = RunsFolder(options.runs_dir, config);
  place.sandbox = &sandbox;
  place.clock = env.clock;
  place.stop = env.stop;
  ModelOptions model_options = ModelOptionsOf(options, place.runs_dir);
  model_options.written = std::move(written);
  place.open_students = [model_options, &options, &env](const std::vector<std::string>& specs) {
    return OpenModels(specs, options, model_options, env);
  };
  // The servers of --base-url are those of the students, and a batch is no place for a judge, which is waited for.
  ModelOptions judge_options = model_options;
  judge_options.batches.reset();
  place.open_judge = [judge_options, runs_dir = place.runs_dir, &options, &env](
                         const std::string& spec, const Suite& suite) -> Result<OpenedJudge> {
    ASSIGN_OR_RETURN(OpenedJudge judge, OpenJudge(spec, judge_options, suite, runs_dir, env));
    if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge.model, spec));
    return judge;
  };
  place.open_servers = [&options, &env](const Plan& plan) { return McpAccessOf(plan, options.workspace.mcp, env); };
  place.write_files = WriteRunFiles;
  return place;
}

void PrintRemarks(const std::vector<Remark>& remarks, const EvalOptions& options, Env& env) {
  if (options.quiet) return;
  for (const Remark& remark : remarks) {
    if (remark.is_warning) {
      PrintWarning(env, remark.text);
    } else {
      env.error(TerminalText::Format("note: {}\n", remark.text));
    }
  }
}

Result<Measurement> StartRun(const MeasureSpec& spec, const EvalOptions& options, MeasurePlace place, Env& env) {
  ASSIGN_OR_RETURN(PlannedRun planned, PlanMeasurement(spec, place));
  // Before the run has a folder.
  place.open_students = [open = place.open_students, demand = DemandOf(planned.plan), &options,
                         &env](const std::vector<std::string>& specs) -> Result<std::vector<std::unique_ptr<Model>>> {
    ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Model>> models, open(specs));
    RETURN_IF_ERROR(CheckSkillFits(demand, models));
    ASSIGN_OR_RETURN(const std::string cost, CheckCost(demand, models, options.max_cost_usd.has_value()));
    if (!cost.empty() && !options.quiet) env.error(TerminalText::Format("note: {}\n", cost));
    return models;
  };
  PrintRemarks(planned.remarks, options, env);
  if (const std::size_t left_out = planned.plan.left_out.size();
      options.quiet && !options.gate.empty() && left_out > 0) {
    PrintWarning(env, fmt::format("the gate is about fewer cases: {} left out", Counted(left_out, "case")));
  }
  return StartMeasurement(spec, std::move(planned.plan), place);
}

}  // namespace

Result<MeasureSpec> SpecOf(const Skill& skill, const EvalOptions& options, const Config& config, const Sandbox& sandbox,
                           const StopFlag* stop) {
  ASSIGN_OR_RETURN(MeasureSpec spec, SettingsOf(options, config));
  spec.skill = MeasuredSkill{Snapshot(skill), std::nullopt, skill.warnings};
  ASSIGN_OR_RETURN(const TempFolder copies, TempFolder::Make("upskill-previous-"));
  std::optional<Skill> previous;
  if (!options.against.empty()) {
    ASSIGN_OR_RETURN(previous, PreviousVersion(options.against, skill, options.skills.size() > 1, copies.path()));
    const fs::path name = fs::weakly_canonical(skill.folder).filename();
    if (previous && options.against.starts_with(kInGit) && previous->folder.filename() != name) {
      spec.skill->warnings.push_back(fmt::format("{} was named {} in {}: it is compared with that", name.string(),
                                                 previous->folder.filename().string(),
                                                 options.against.substr(kInGit.size())));
    }
  }
  if (!options.resume.empty()) {
    if (previous) spec.previous = MeasuredSkill{Snapshot(*previous), std::nullopt, {}};
    return spec;
  }
  RETURN_IF_ERROR(options.activation.on ? TakeQueries(skill, options, spec)
                                        : TakeCases(skill, previous, options, config, sandbox, stop, spec));
  RETURN_IF_ERROR(ReadFolders(skill, previous, {RunsFolder(options.runs_dir, config)}, spec));
  return spec;
}

Result<MeasureSpec> SpecWithoutSkill(const EvalOptions& options, const Config& config) {
  ASSIGN_OR_RETURN(MeasureSpec spec, SettingsOf(options, config));
  ASSIGN_OR_RETURN(spec.suite, LoadSuite(options.tests));
  return spec;
}

Result<Suite> LoadCases(const std::string& tests, const fs::path& skill_folder, const Sandbox& sandbox,
                        const StopFlag* stop) {
  if (!tests.empty()) return LoadSuiteOrTasks(tests, skill_folder, sandbox, stop);
  Result<Suite> suite = LoadSuiteOfSkill(skill_folder);
  if (suite || suite.error().kind != ErrorKind::kNotFound) return suite;
  // A file without cases has said what to do already.
  const std::string& message = suite.error().message;
  return Error{ErrorKind::kNotFound,
               message.substr(0, message.find("; write some under")) +
                   "; write one (`upskill help files` shows the format), or name one with -t FILE"};
}

Result<std::optional<StoredRun>> RunToResume(const EvalOptions& options, const Config& config) {
  if (options.resume.empty()) return std::optional<StoredRun>();
  if (!options.log_runs) return InputError("--resume can't be combined with --no-log-runs: it continues a logged run");
  const fs::path runs_dir = RunsFolder(options.runs_dir, config);
  const Result<fs::path> folder = ResolveRun(runs_dir, options.resume);
  if (!folder) {
    if (!FindRuns(runs_dir).empty()) return folder.error();
    return Error{folder.error().kind,
                 fmt::format("no run to resume in {}; leave out --resume to start one", runs_dir.string())};
  }
  ASSIGN_OR_RETURN(Plan plan, LoadPlan(*folder));
  return std::optional(StoredRun{*folder, std::move(plan)});
}

void RecallTerms(const Plan& plan, EvalOptions& options, Env& env) {
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
}

std::vector<std::string> ChooseModels(const std::vector<std::string>& given, const Config& config) {
  if (!given.empty()) return given;
  if (!config.eval_model.empty()) return {config.eval_model};
  if (!config.skill_generation_model.empty()) return {config.skill_generation_model};
  return {std::string(kEmbeddedModel)};
}

Result<EvalSession> OpenEvalSession(const MeasureSpec& spec, std::optional<StoredRun> resumed,
                                    const EvalOptions& options, const Config& config, Env& env) {
  if (resumed) RETURN_IF_ERROR(CheckAgainstPlan(spec, options, resumed->plan));
  ASSIGN_OR_RETURN(SandboxOptions sandbox, SandboxOptionsOf(options.sandbox, env));
  const auto written = std::make_shared<WrittenTokens>();
  EvalSession session{std::make_unique<Sandbox>(std::move(sandbox)), {}, written};
  const MeasurePlace place = PlaceOf(options, config, *session.sandbox, written, env);
  ASSIGN_OR_RETURN(session.measurement,
                   resumed ? ResumeMeasurement(spec, *std::move(resumed), place) : StartRun(spec, options, place, env));
  PrintRemarks(session.measurement.remarks, options, env);
  const McpChoice& mcp = options.workspace.mcp;
  if (session.measurement.access.client == nullptr && (!mcp.urls.empty() || !mcp.variables.empty())) {
    PrintWarning(env, fmt::format("{} isn't used: no case has an MCP server at a URL",
                                  mcp.urls.empty() ? "--mcp-env" : "--mcp-url"));
  }
  return session;
}

}  // namespace upskill
