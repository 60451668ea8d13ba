// SPDX-License-Identifier: Apache-2.0
#include "teach/trial.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "measure/measurement.h"
#include "measure/spec.h"
#include "teach/generation_budget.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kTestStage = "test";

SkillSnapshot SnapshotOf(const SkillText& skill) { return Snapshot(skill.name, std::string(Trim(skill.body))); }

MeasureSpec SpecOfTrial(const TrialContext& context, const TrialSpec& trial) {
  MeasureSpec spec;
  if (trial.skill != nullptr) {
    spec.skill = MeasuredSkill{SnapshotOf(*trial.skill), std::nullopt, {}};
    spec.skill->snapshot.lineage = context.lineage;
  }
  if (trial.previous != nullptr) spec.previous = MeasuredSkill{SnapshotOf(*trial.previous), std::nullopt, {}};
  spec.baseline = trial.baseline;
  spec.suite = trial.suite;
  spec.is_vetted = true;
  spec.students = context.students;
  spec.rounds = trial.rounds;
  spec.sampling = context.sampling;
  if (trial.other_seed) spec.sampling.seed ^= SeedFromText(trial.stage);
  spec.system_prompt = trial.system_prompt;
  spec.verdict = context.verdict;
  spec.stop_when_decided = trial.stop_when_decided;
  // Only the verdict on the held-out cases is a look; the others serve to choose a candidate.
  const bool is_test = trial.stage == kTestStage;
  if (!is_test) spec.trial = trial.stage;
  spec.counts_looks = is_test && context.ledger;
  spec.looks_before = context.test_looks_before;
  return spec;
}

MeasurePlace PlaceOfTrial(const TrialContext& context) {
  MeasurePlace place;
  place.runs_dir = context.runs_dir;
  place.clock = context.clock;
  place.stop = context.stop;
  place.models = context.models;
  return place;
}

}  // namespace

Result<Trial> RunTrial(const TrialContext& context, const TrialSpec& given) {
  const MeasureSpec spec = SpecOfTrial(context, given);
  const MeasurePlace place = PlaceOfTrial(context);
  ASSIGN_OR_RETURN(PlannedRun planned, PlanMeasurement(spec, place));
  ASSIGN_OR_RETURN(Measurement measurement, StartMeasurement(spec, std::move(planned.plan), place));
  if (context.on_run) RETURN_IF_ERROR(context.on_run(given.stage, measurement.plan.run));
  ASSIGN_OR_RETURN(RunOutcome outcome, RunMeasurement(measurement, {{}, given.budget, context.observer}));

  Trial trial;
  trial.run = measurement.plan.run;
  for (const SamplePtr& sample : outcome.data.samples()) {
    if (sample->ok() && sample->cached_from.empty()) ++trial.asked;
  }
  if (outcome.interrupted) return Error{ErrorKind::kCancelled, "interrupted"};
  if (!outcome.exhausted.empty()) return BudgetExceeded(outcome.exhausted);
  if (!outcome.stopped_models.empty()) return Error{ErrorKind::kPermanent, outcome.stopped_models.front()};
  if (outcome.progress.errors > 0) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("run {}: {} left with errors", trial.run, Counted(outcome.progress.errors, "cell"))};
  }
  EndedRun ended = EndMeasurement(measurement, std::move(outcome.data));
  RETURN_IF_ERROR(std::move(ended.noted));
  trial.judged = std::move(ended.judged);
  return trial;
}

std::vector<double> PassRates(const Trial& trial, Arm arm) {
  std::vector<double> rates;
  rates.reserve(trial.judged.summary.students.size());
  for (const StudentSummary& student : trial.judged.summary.students) {
    const auto found = student.arms.find(arm);
    rates.push_back(found == student.arms.end() ? 0.0 : found->second.rate().value_or(0.0));
  }
  return rates;
}

}  // namespace upskill
