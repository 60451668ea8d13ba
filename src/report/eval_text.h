// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/judged_run.h"
#include "report/style.h"

namespace upskill {

// "name · about 431 tokens · 12 cases × 3 rounds × 2 arms = 72 cells"
TerminalText EvalHead(const Plan& plan, const Style& style);

// For each student its bars for each arm, the lift with its interval, the verdict, tokens and cost.
TerminalText EvalBars(const JudgedRun& run, const Style& style);

// One row a student: pass rate, lift, average checks passed, tokens of an answer, cost per passed answer, verdict.
TerminalText EvalTable(const JudgedRun& run, const Style& style);

// For a table without bars: errors, what the verdicts leave out, and the sweet spot among several models.
TerminalText EvalTableNotes(const JudgedRun& run);

// "+42 points (95 %: +27 … +56)   helps"
TerminalText LiftLine(const StudentVerdict& verdict, double lift, const Style& style);

// "helps", "undecided, about 4 more rounds", "no effect, 37 % more tokens".
std::string VerdictText(const StudentVerdict& verdict);

// Cases that no student ever passed (floor) and that always passed in every arm (ceiling); one line each. `with_hint`:
// says how to see why.
TerminalText EvalCaseNotes(const JudgedRun& run, bool with_hint = true);

// Every case: in each arm how its answers fared and which check failed on what (-v).
TerminalText EvalCases(const RunData& data, const Style& style);

}  // namespace upskill
