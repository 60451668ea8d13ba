// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/tool_server.h"
#include "eval/journal/journal.h"
#include "eval/journal/sample.h"
#include "eval/plan/cell.h"
#include "eval/plan/plan.h"
#include "eval/run/budget.h"
#include "eval/run/runner.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/judged_run.h"
#include "measure/spec.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// A model that judges answers, and what is known of it.
struct OpenedJudge {
  std::unique_ptr<Model> model;
  RunJudge described;
};

// Where a measurement is made, and how it gets its models. What it refers to outlives the measurement.
struct MeasurePlace {
  std::filesystem::path runs_dir;
  const Sandbox* sandbox = &DefaultSandbox();
  const Clock* clock = nullptr;
  const StopFlag* stop = nullptr;
  std::vector<Model*> models;  // the students' models, if they are open already; else open_students is called
  std::function<Result<std::vector<std::unique_ptr<Model>>>(const std::vector<std::string>& specs)> open_students;
  std::function<Result<OpenedJudge>(const std::string& spec, const Suite& suite)> open_judge;
  std::function<Result<McpAccess>(const Plan& plan)> open_servers;  // of the cases; empty: none is at a URL
  // Writes what other programs read into the folder of a run that has ended; may be empty.
  std::function<Status(const JudgedRun& run, const std::filesystem::path& folder)> write_files;
};

// Something that the user should know.
struct Remark {
  bool is_warning = true;  // false: a note
  std::string text;
};

// A plan without its students.
struct PlannedRun {
  Plan plan;
  std::vector<Remark> remarks;
};

// A run, new or resumed, that RunMeasurement can carry out.
struct Measurement {
  Plan plan;
  std::vector<std::unique_ptr<Model>> opened;
  std::vector<Model*> models;      // as plan.students: of `opened`, or the place's
  std::unique_ptr<Model> judge;    // null: no check asks one
  std::optional<Journal> journal;  // absent: the run isn't kept
  std::vector<Sample> resumed;     // taken out by RunMeasurement
  bool is_resumed = false;         // it goes on with a run that was there
  std::vector<Cell> cells;         // the plan's, if they are known already; taken out by RunMeasurement
  std::vector<Sample> cached;
  std::optional<Gate> gate;
  McpAccess access;  // to the servers of the cases
  std::vector<Remark> remarks;
  MeasurePlace place;
};

// How much a run may use, and who is told of it.
struct RunBounds {
  RunLimits limits;
  Budget* budget = nullptr;  // shared with others, in place of the limits on cost and tokens; null: none is
  RunObserver* observer = nullptr;
};

struct EndedRun {
  JudgedRun judged;
  Status files;  // of MeasurePlace::write_files
  Status noted;  // whether the look at its verdicts could be noted
};

// Writes the whole run down. Errors: a spec that contradicts itself, cases whose checks can't be made, skills that
// don't fit into a workspace.
Result<PlannedRun> PlanMeasurement(const MeasureSpec& spec, const MeasurePlace& place);

// Opens the models, takes the run's share of alpha and the answers that are there, and creates the run's folder. With
// MeasureSpec::resumes_same_run it may be one that was there. An error leaves no folder, and takes no share.
Result<Measurement> StartMeasurement(const MeasureSpec& spec, Plan plan, const MeasurePlace& place);

// Goes on with a run as its own plan says. Errors: what was measured can't be any more: another skill, changed models,
// cases that can't pass here.
Result<Measurement> ResumeMeasurement(const MeasureSpec& spec, StoredRun run, const MeasurePlace& place);

// Asks the models for what is left to answer. Errors: those of RunPlan.
Result<RunOutcome> RunMeasurement(Measurement& measurement, const RunBounds& bounds);

// Judges the run, writes its files, and notes that its verdicts are looked at.
EndedRun EndMeasurement(const Measurement& measurement, RunData data);

// The options that name the servers a model was asked at; empty: the catalogue or a file has it.
std::string ServerOptions(const Student& student);

}  // namespace upskill
