// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "eval/plan.h"
#include "eval/sample.h"
#include "eval/summary.h"
#include "eval/verdict.h"

namespace upskill {

// A run with what is said of it.
struct JudgedRun {
  Plan plan;
  RunSummary summary;
  std::vector<StudentVerdict> verdicts;               // by student: the skill against ComparedArm(plan)
  std::map<Arm, std::vector<StudentVerdict>> others;  // by student: the skill against the plan's other arms
};

JudgedRun Judge(const Plan& plan, const std::vector<Sample>& samples);

}  // namespace upskill
