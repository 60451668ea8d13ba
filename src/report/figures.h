// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/judged_run.h"
#include "eval/plan.h"
#include "eval/sample.h"
#include "eval/summary.h"
#include "eval/verdict.h"

namespace upskill {

// One run as the reports see it. Points into the plan and the samples it was made from: they must outlive it.
struct ReportInput {
  const Plan* plan = nullptr;
  // The last word on each cell of the plan, by case, student, arm and round, each in the plan's order.
  std::vector<const Sample*> samples;
  RunSummary summary;
  std::vector<StudentVerdict> verdicts;               // one for each student of the plan, in its order
  std::map<Arm, std::vector<StudentVerdict>> others;  // the same against the plan's other arms; may be empty
};

// `summary` and `verdicts` (as of Summarize and JudgeRun) are of this plan and these samples. Without verdicts every
// one is undecided.
ReportInput MakeReportInput(const Plan& plan, const std::vector<Sample>& samples, RunSummary summary,
                            std::vector<StudentVerdict> verdicts);

// Of a judged run, with the verdicts against its other arms as well. `run` and `samples` must outlive the result.
ReportInput MakeReportInput(const JudgedRun& run, const std::vector<Sample>& samples);

// The arm that the skill is compared with, if the run has it.
std::optional<Arm> ReferenceArm(const Plan& plan);

// "baseline", "with skill", …
std::string ArmLabel(Arm arm);

// "+42", "-3", "0": a fraction in percentage points.
std::string PointsText(double fraction);

// The lift that the verdict tells, else the summary's.
std::optional<double> LiftOf(const ReportInput& run, std::size_t student);

// The summary of one arm of a student; null when the run has no such arm.
const ArmSummary* ArmOf(const StudentSummary& student, Arm arm);

// Prompt and output tokens of an answer, on average.
std::optional<double> MeanTokens(const ArmSummary& arm);

}  // namespace upskill
