// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/plan/plan.h"
#include "eval/verdict/case_findings.h"
#include "eval/verdict/choice_answers.h"
#include "eval/verdict/summary.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// A run with its summary and verdicts. Owns all of it; reports take it by reference.
struct JudgedRun {
  RunData data;
  RunSummary summary;
  std::vector<StudentVerdict> verdicts;               // by student: the skill against ComparedArm(plan())
  std::map<Arm, std::vector<StudentVerdict>> others;  // by student: the skill against the plan's other arms
  std::vector<CaseFindings> findings;                 // by student: the skill against ComparedArm(plan())

  // Set where the samples in `data` have been dropped, for contrasts; by student and arm, in the plan's order.
  std::vector<ChoiceAnswers> choices;

  const Plan& plan() const { return data.plan(); }
};

// With Plan::stop_when_decided, cells that a settled verdict made unnecessary don't count as unanswered.
JudgedRun Judge(RunData data);

}  // namespace upskill
