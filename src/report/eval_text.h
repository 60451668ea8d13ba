// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/plan.h"
#include "eval/sample.h"
#include "eval/summary.h"
#include "report/style.h"

namespace upskill {

// "name · about 431 tokens · 12 cases × 3 rounds × 2 arms = 72 cells"
std::string EvalHead(const Plan& plan, const Style& style);

// For each student its bars for each arm, the lift, and tokens.
std::string EvalBars(const RunSummary& summary, const Style& style);

// One row a student: pass rate, lift, average checks passed, average tokens of an answer, cells answered.
std::string EvalTable(const RunSummary& summary, const Style& style);

// Cases that no student ever passed (floor) or always passed in every arm (ceiling), one line each.
std::string EvalCaseNotes(const Plan& plan, const RunSummary& summary);

// Every case: in each arm how its answers fared and which check failed on what (-v).
std::string EvalCases(const Plan& plan, const std::vector<Sample>& samples, const Style& style);

}  // namespace upskill
