// SPDX-License-Identifier: Apache-2.0
#include "measure/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "check/check.h"
#include "check/suite_answers.h"
#include "eval/journal/cache.h"
#include "eval/journal/runs_folder.h"
#include "eval/plan/cell.h"
#include "eval/plan/placebo.h"
#include "eval/verdict/gate_forecast.h"
#include "eval/verdict/ledger.h"
#include "eval/verdict/same_run.h"
#include "eval/verdict/verdict.h"
#include "measure/share.h"
#include "measure/workspace.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoSkill = "none";  // what the plan of a run without a skill calls it

void Warn(const std::vector<std::string>& warnings, std::vector<Remark>& remarks) {
  for (const std::string& warning : warnings) remarks.push_back({true, warning});
}

// Whether the skill has a previous version, and students get something different from it.
bool HasChanged(const MeasureSpec& spec) {
  if (!spec.previous) return false;
  const SkillSnapshot& now = spec.skill->snapshot;
  const SkillSnapshot& before = spec.previous->snapshot;
  if (before.name.empty() && before.body.empty()) return false;
  return before.name != now.name || before.body != now.body || spec.previous->folder != spec.skill->folder;
}

std::vector<Arm> ArmsOf(const MeasureSpec& spec) {
  if (spec.others) return {Arm::kSkill};
  std::vector<Arm> arms;
  if (spec.baseline) arms.push_back(Arm::kBaseline);
  if (spec.skill) arms.push_back(Arm::kSkill);
  if (spec.placebo) arms.push_back(Arm::kPlacebo);
  if (HasChanged(spec)) arms.push_back(Arm::kPrevious);
  return arms;
}

// What the plan takes from the spec as it is.
Plan PlanOf(const MeasureSpec& spec) {
  Plan plan;
  plan.skill = spec.skill ? spec.skill->snapshot : Snapshot(kNoSkill, "");
  if (spec.previous) plan.previous = spec.previous->snapshot;
  plan.arms = ArmsOf(spec);
  if (spec.placebo) plan.placebo = PlaceboText(plan.skill.body.size());
  plan.suite = spec.suite;
  plan.rounds = spec.rounds;
  plan.sampling = spec.sampling;
  plan.system_prompt = spec.system_prompt;
  plan.verdict = spec.verdict;
  plan.terms = spec.terms;
  plan.shard = spec.shard;
  plan.trial = spec.trial;
  plan.stop_when_decided = spec.stop_when_decided;
  plan.offers_cache = spec.offers_cache;
  if (plan.trial.empty()) plan.share.comparisons = std::max(1, static_cast<int>(plan.arms.size()) - 1);
  return plan;
}

// Says why the skill isn't compared with a previous version. Without any other comparison, nothing is to be decided.
void DoWithoutPrevious(PlannedRun& planned) {
  Plan& plan = planned.plan;
  planned.remarks.push_back(
      {false, plan.previous.name.empty()
                  ? plan.skill.name + " has no earlier version: it is compared only with the baseline (no skill)"
                  : fmt::format("nothing has changed: students get the same text from {} and its previous version, so "
                                "no answers are needed to compare them",
                                plan.skill.name)});
  if (!plan.stop_when_decided || plan.has_arm(ComparedArm(plan))) return;
  plan.stop_when_decided = false;
  plan.rounds = 1;
}

std::vector<std::string> SpecsOf(const std::vector<Student>& students) {
  std::vector<std::string> specs;
  specs.reserve(students.size());
  for (const Student& student : students) specs.push_back(student.spec);
  return specs;
}

// Opens the students' models, unless the place has them, and the way to the servers of the cases.
Status OpenStudents(const std::vector<std::string>& specs, bool batch, Measurement& measurement) {
  const MeasurePlace& place = measurement.place;
  if (place.models.empty()) {
    ASSIGN_OR_RETURN(measurement.opened, place.open_students(specs));
  }
  RETURN_IF_ERROR(CheckThatStudentsCanAct(measurement.plan, measurement.opened, *place.sandbox, batch));
  if (!place.open_servers) return {};
  ASSIGN_OR_RETURN(measurement.access, place.open_servers(measurement.plan));
  return {};
}

// A gate that names a model which isn't there, or that can't hold with the share of alpha that the run has, should cost
// nothing.
Status TakeGate(const std::string& gate, bool is_forecast, Measurement& measurement) {
  if (gate.empty()) return {};
  ASSIGN_OR_RETURN(measurement.gate, ParseGate(gate, measurement.plan));
  if (!is_forecast) return {};
  ASSIGN_OR_RETURN(const std::vector<std::string> warnings, ForecastGate(*measurement.gate, measurement.plan));
  Warn(warnings, measurement.remarks);
  return {};
}

Status TakeJudge(const std::string& spec, Measurement& measurement) {
  ASSIGN_OR_RETURN(OpenedJudge judge, measurement.place.open_judge(spec, measurement.plan.suite));
  if (judge.described.rubrics == 0) {
    Warn({"--judge-model: no check of these cases asks a judge (`upskill help checks`)"}, measurement.remarks);
    return {};
  }
  for (const Student& student : measurement.plan.students) {
    if (student.identity != judge.described.identity) continue;
    Warn({fmt::format("{} judges its own answers; models favour what they wrote themselves: name another model with "
                      "--judge-model",
                      student.name)},
         measurement.remarks);
  }
  measurement.judge = std::move(judge.model);
  measurement.plan.judge = std::move(judge.described);
  return {};
}

// The judge that the run was started with.
Status ReopenJudge(Measurement& measurement) {
  if (!measurement.plan.judge) return {};
  const RunJudge& stored = *measurement.plan.judge;
  ASSIGN_OR_RETURN(OpenedJudge judge, measurement.place.open_judge(stored.spec, measurement.plan.suite));
  if (judge.described.identity != stored.identity) {
    return InputError(fmt::format("the judge '{}' has changed since run {} started; start a new run", stored.spec,
                                  measurement.plan.run));
  }
  measurement.judge = std::move(judge.model);
  return {};
}

Result<TakenShare> ShareOf(const MeasureSpec& spec, Measurement& measurement) {
  const fs::path& runs_dir = measurement.place.runs_dir;
  const LookPolicy policy{.counts = spec.counts_looks,
                          .notes = spec.is_kept,
                          .reuses_answers = spec.uses_cache,
                          .looks_before = spec.looks_before,
                          .may_change_seed = true};
  if (spec.is_kept) RETURN_IF_ERROR(MakeRunsFolder(runs_dir));
  Result<TakenShare> share = TakenShare::Take(runs_dir, policy, measurement.plan);
  if (!share) return share.error().With("counting earlier looks at the tests (--no-ledger ignores them)");
  if (const std::uint64_t seed = measurement.plan.sampling.seed; seed != spec.sampling.seed) {
    Warn({fmt::format(
             "cases or checks were dropped or changed after their answers had been seen, so this run uses answers of "
             "another seed ({} instead of {}): reusing the old ones would bias the verdict",
             seed, spec.sampling.seed)},
         measurement.remarks);
  }
  if (share->skipped_lines() > 0) {
    Warn({fmt::format("{} of {} could not be read: earlier looks at these tests may not be counted",
                      Counted(share->skipped_lines(), "line"), (runs_dir / kLedgerFile).string())},
         measurement.remarks);
  }
  return share;
}

// The students have their tools, and the measurement knows its models.
Status LetAct(Measurement& measurement) {
  std::optional<fs::path> folder;
  if (measurement.journal) folder = measurement.journal->folder();
  RETURN_IF_ERROR(
      LetStudentsAct(measurement.plan, *measurement.place.sandbox, folder, measurement.access, measurement.opened));
  measurement.models = measurement.place.models;
  for (const std::unique_ptr<Model>& model : measurement.opened) measurement.models.push_back(model.get());
  return {};
}

// Creates the folder of a new run. What can't begin leaves none.
Status CreateJournal(TakenShare share, Measurement& measurement) {
  ASSIGN_OR_RETURN(measurement.journal,
                   Journal::Create(measurement.place.runs_dir, measurement.plan, *measurement.place.clock));
  Status begun = LetAct(measurement);
  if (begun) begun = share.NoteStart(measurement.plan);
  if (!begun) measurement.journal->Discard();
  return begun;
}

// Stores what the run is to keep to from now on, also when it is resumed once more.
Status StoreTerms(const MeasureSpec& spec, Measurement& measurement) {
  RunTerms& terms = measurement.plan.terms;
  const RunTerms stored = std::exchange(terms, spec.terms);
  if (spec.batch) {
    terms.max_cost_usd = stored.max_cost_usd;
    terms.max_tokens = stored.max_tokens;
  }
  return terms == stored ? Status() : measurement.journal->StorePlan(measurement.plan);
}

// Takes up the run in `folder`, whose plan and models the measurement has.
Status TakeUpJournal(const MeasureSpec& spec, const fs::path& folder, Measurement& measurement) {
  ASSIGN_OR_RETURN(measurement.journal, Journal::Reopen(folder, *measurement.place.clock));
  RETURN_IF_ERROR(StoreTerms(spec, measurement));
  ASSIGN_OR_RETURN(JournalContent content, ReadJournal(folder));
  measurement.resumed = std::move(content.samples);
  measurement.is_resumed = true;
  if (content.skipped_lines > 0) {
    Warn({fmt::format("{} of {} could not be read; cells without another answer are requested again",
                      Counted(content.skipped_lines, "line"), (folder / "samples.jsonl").string())},
         measurement.remarks);
  }
  const bool answered = std::any_of(measurement.resumed.begin(), measurement.resumed.end(),
                                    [](const Sample& sample) { return sample.ok() || sample.keeps_answer; });
  RETURN_IF_ERROR(TakeShareAgain(measurement.place.runs_dir, answered, *measurement.journal, measurement.plan));
  return LetAct(measurement);
}

// Goes on with a run that asks what the plan asks; nothing is left to do if it has all answers.
Status ResumeSameRun(const MeasureSpec& spec, SameRun same, Measurement& measurement) {
  measurement.plan = std::move(same.run.plan);
  RETURN_IF_ERROR(TakeGate(spec.terms.gate, true, measurement));
  if (same.lacks_answers) {
    measurement.remarks.push_back({false, fmt::format("resuming run {}, which lacks answers", measurement.plan.run)});
  }
  return TakeUpJournal(spec, same.run.folder, measurement);
}

// Whether the cases can be judged here as they were when the run started.
Status CheckCases(const Measurement& measurement) {
  const Plan& plan = measurement.plan;
  if (plan.measures_activation()) return {};
  Suite suite = plan.suite;
  ASSIGN_OR_RETURN(
      const std::vector<std::string> left_out,
      LeaveOutCasesThatCannotPass(suite, *measurement.place.sandbox, plan.judge.has_value(), plan.mode_of_all()));
  if (left_out.empty()) return {};
  return InputError(fmt::format("run {} can't be resumed here: {}", plan.run, left_out.front()));
}

Status CheckSkill(const MeasureSpec& spec, Measurement& measurement) {
  if (!spec.skill) return {};
  const SkillSnapshot& given = spec.skill->snapshot;
  const Plan& plan = measurement.plan;
  if (given.name != plan.skill.name) {
    return InputError(fmt::format("run {} measures the skill '{}', not '{}'", plan.run, plan.skill.name, given.name));
  }
  if (given.sha256 != plan.skill.sha256) {
    measurement.remarks.push_back(
        {false,
         fmt::format("the skill has changed since run {} started; the run continues with the old version", plan.run)});
  }
  return {};
}

Status CheckIdentities(const Measurement& measurement) {
  for (std::size_t i = 0; i < measurement.opened.size(); ++i) {
    const Student& student = measurement.plan.students[i];
    if (measurement.opened[i]->info().identity == student.identity) continue;
    const std::string servers = ServerOptions(student);
    return InputError(fmt::format("model '{}' has changed since run {} started; start a new run{}", student.spec,
                                  measurement.plan.run,
                                  servers.empty() ? "" : ", or name the servers that it used:" + servers));
  }
  return {};
}

}  // namespace

Result<PlannedRun> PlanMeasurement(const MeasureSpec& spec, const MeasurePlace& place) {
  PlannedRun planned{PlanOf(spec), {}};
  Plan& plan = planned.plan;
  if (plan.stop_when_decided && plan.shard.of > 1) {
    return InputError(
        "--stop-when-decided needs complete rounds, which a shard doesn't have: leave out one of the two");
  }
  if (spec.previous && !plan.has_arm(Arm::kPrevious)) DoWithoutPrevious(planned);
  if (plan.stop_when_decided && !plan.has_arm(ComparedArm(plan))) {
    return InputError("--stop-when-decided needs an arm to compare with: leave out --no-baseline, or add --against");
  }
  std::vector<std::string> weaknesses;
  if (spec.others) {  // what is wrong with a check should be known before a run is begun
    for (const Case& query : plan.suite.cases) RETURN_IF_ERROR(CaseChecks::Make(query));
  } else if (!spec.is_vetted) {
    RETURN_IF_ERROR(CheckWrongAnswers(plan.suite));
    const CaseMode mode = spec.workspace ? spec.workspace->mode : CaseMode::kAnswer;
    ASSIGN_OR_RETURN(plan.left_out, LeaveOutCasesThatCannotPass(plan.suite, *place.sandbox, !spec.judge.empty(), mode));
    ASSIGN_OR_RETURN(weaknesses, FindSuiteWeaknesses(plan.suite, place.stop, *place.sandbox));
    Warn(CasesThatStayAnswers(mode, plan.suite), planned.remarks);
  }
  ASSIGN_OR_RETURN(plan.workspace, WorkspacePlanOf(spec, plan));
  if (spec.skill) Warn(spec.skill->warnings, planned.remarks);
  Warn(plan.suite.warnings, planned.remarks);
  Warn(plan.left_out, planned.remarks);
  Warn(weaknesses, planned.remarks);
  return planned;
}

Result<Measurement> StartMeasurement(const MeasureSpec& spec, Plan plan, const MeasurePlace& place) {
  Measurement measurement;
  measurement.plan = std::move(plan);
  measurement.plan.students = spec.students;
  measurement.place = place;
  RETURN_IF_ERROR(OpenStudents(SpecsOf(spec.students), spec.batch, measurement));
  for (std::size_t i = 0; i < measurement.opened.size(); ++i) {
    const ModelInfo& info = measurement.opened[i]->info();
    measurement.plan.students[i] = {spec.students[i].spec, info.name, info.identity};
  }
  if (!spec.judge.empty()) RETURN_IF_ERROR(TakeJudge(spec.judge, measurement));
  if (spec.resumes_same_run && spec.is_kept) {
    std::optional<SameRun> same = FindSameRun(measurement.plan, place.runs_dir);
    if (same && (same->lacks_answers || spec.uses_cache)) {
      RETURN_IF_ERROR(ResumeSameRun(spec, *std::move(same), measurement));
      return measurement;
    }
  }
  ASSIGN_OR_RETURN(TakenShare share, ShareOf(spec, measurement));
  RETURN_IF_ERROR(TakeGate(spec.terms.gate, true, measurement));
  if (spec.uses_cache) {
    std::vector<fs::path> folders = {place.runs_dir};  // the first: a shard that is started again has paid for these
    folders.insert(folders.end(), spec.cache_from.begin(), spec.cache_from.end());
    measurement.cells = CellsOf(measurement.plan);
    measurement.cached = CachedSamplesOf(measurement.cells, folders);
  }
  RETURN_IF_ERROR(spec.is_kept ? CreateJournal(std::move(share), measurement) : LetAct(measurement));
  return measurement;
}

Result<Measurement> ResumeMeasurement(const MeasureSpec& spec, StoredRun run, const MeasurePlace& place) {
  Measurement measurement;
  measurement.place = place;
  measurement.plan = std::move(run.plan);
  RETURN_IF_ERROR(RefuseImported(measurement.plan, "resume"));
  RETURN_IF_ERROR(CheckSkill(spec, measurement));
  RETURN_IF_ERROR(CheckCases(measurement));
  RETURN_IF_ERROR(TakeGate(spec.terms.gate, false, measurement));
  RETURN_IF_ERROR(OpenStudents(SpecsOf(measurement.plan.students), spec.batch, measurement));
  RETURN_IF_ERROR(ReopenJudge(measurement));
  RETURN_IF_ERROR(CheckIdentities(measurement));
  RETURN_IF_ERROR(TakeUpJournal(spec, run.folder, measurement));
  return measurement;
}

Result<RunOutcome> RunMeasurement(Measurement& measurement, const RunBounds& bounds) {
  RunInput input;
  input.plan = &measurement.plan;
  input.models = measurement.models;
  input.judge = measurement.judge.get();
  input.journal = measurement.journal ? &*measurement.journal : nullptr;
  input.cells = std::move(measurement.cells);
  input.resumed = std::move(measurement.resumed);
  input.cached = measurement.cached;
  input.limits = bounds.limits;
  input.budget = bounds.budget;
  input.stop = measurement.place.stop;
  input.clock = measurement.place.clock;
  input.observer = bounds.observer;
  input.sandbox = measurement.place.sandbox;
  return RunPlan(std::move(input));
}

EndedRun EndMeasurement(const Measurement& measurement, RunData data) {
  EndedRun ended{Judge(std::move(data)), {}, {}};
  if (!measurement.journal) return ended;
  const MeasurePlace& place = measurement.place;
  if (place.write_files) ended.files = place.write_files(ended.judged, measurement.journal->folder());
  ended.noted = NoteLook(place.runs_dir, ended.judged, *place.clock);
  return ended;
}

std::string ServerOptions(const Student& student) {
  constexpr std::string_view kAt = " at ";
  const std::size_t at = student.identity.rfind(kAt);
  if (at == std::string::npos) return "";
  std::string options;
  std::string_view rest = std::string_view(student.identity).substr(at + kAt.size());
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    options += " --base-url " + ShellWord(std::string(rest.substr(0, comma)));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return options;
}

}  // namespace upskill
