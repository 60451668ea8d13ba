// SPDX-License-Identifier: Apache-2.0
#include "teach/trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/cache.h"
#include "eval/journal.h"
#include "eval/ledger.h"
#include "measure/share.h"
#include "teach/generation_budget.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kTestStage = "test";

SkillSnapshot SnapshotOf(const SkillText& skill) { return Snapshot(skill.name, std::string(Trim(skill.body))); }

}  // namespace

Result<Trial> RunTrial(const TrialContext& context, TrialSpec spec) {
  Plan plan;
  plan.skill = SnapshotOf(*spec.skill);
  plan.skill.lineage = context.lineage;
  plan.suite = std::move(spec.suite);
  plan.students = context.students;
  if (spec.baseline) plan.arms.push_back(Arm::kBaseline);
  plan.arms.push_back(Arm::kSkill);
  if (spec.previous != nullptr) {
    plan.arms.push_back(Arm::kPrevious);
    plan.previous = SnapshotOf(*spec.previous);
  }
  plan.rounds = spec.rounds;
  plan.sampling = context.sampling;
  plan.system_prompt = std::move(spec.system_prompt);
  plan.verdict = context.verdict;
  plan.stop_when_decided = spec.stop_when_decided;
  if (spec.stage != kTestStage) plan.trial = spec.stage;

  RunInput input;
  ASSIGN_OR_RETURN(input.cached, CachedSamplesOf(plan, context.runs_dir));
  // Only the verdict on the held-out cases is a look; the others serve to choose a candidate.
  const bool is_test = spec.stage == kTestStage;
  if (is_test) plan.share.comparisons = std::max(1, static_cast<int>(plan.arms.size()) - 1);
  ASSIGN_OR_RETURN(TakenShare share, TakenShare::Take(context.runs_dir,
                                                      {.counts = is_test && context.ledger,
                                                       .notes = true,
                                                       .reuses_answers = true,
                                                       .looks_before = context.test_looks_before},
                                                      plan));
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(context.runs_dir, plan, *context.clock));
  if (const Status noted = share.NoteStart(plan); !noted) {
    journal.Discard();
    return noted.error();
  }
  if (context.on_run) RETURN_IF_ERROR(context.on_run(spec.stage, plan.run));
  input.plan = &plan;
  input.models = context.models;
  input.journal = &journal;
  input.budget = spec.budget;
  input.stop = context.stop;
  input.clock = context.clock;
  input.observer = context.observer;
  ASSIGN_OR_RETURN(RunOutcome outcome, RunPlan(std::move(input)));

  Trial trial;
  trial.run = plan.run;
  for (const SamplePtr& sample : outcome.data.samples()) {
    if (sample->ok() && sample->cached_from.empty()) ++trial.asked;
  }
  if (outcome.interrupted) return Error{ErrorKind::kCancelled, "interrupted"};
  if (!outcome.exhausted.empty()) return BudgetExceeded(outcome.exhausted);
  if (!outcome.stopped_models.empty()) return Error{ErrorKind::kPermanent, outcome.stopped_models.front()};
  if (outcome.progress.errors > 0) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("run {}: {} left with errors", plan.run, Counted(outcome.progress.errors, "cell"))};
  }
  trial.judged = Judge(std::move(outcome.data));
  RETURN_IF_ERROR(NoteLook(context.runs_dir, trial.judged, *context.clock));
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
