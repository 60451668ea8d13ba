// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/verdict/judged_run.h"
#include "report/terminal/style.h"
#include "report/terminal/verdict_text.h"

namespace upskill {

// "name · skill about 431 tokens · 12 cases × 3 rounds × 2 arms = 72 cells"
TerminalText EvalHead(const Plan& plan, const Style& style);

// The same of a run that has been judged, with the rounds and cells that it needed: "… × 4 rounds of 20 planned × …".
TerminalText EvalHead(const JudgedRun& run, const Style& style);

// For each student its bars for each arm, the lift with its interval, the verdict, tokens and cost.
TerminalText EvalBars(const JudgedRun& run, const Style& style);

// One row a student: pass rate, lift, average checks passed, tokens of an answer, cost per passed answer, verdict.
TerminalText EvalTable(const JudgedRun& run, const Style& style);

// For a table without bars: what answers take, errors, what the verdicts rest on, and the best value among several
// models.
TerminalText EvalTableNotes(const JudgedRun& run, const Style& style);

// "+42 points (likely +27 … +56)   helps on these 12 cases; unproven for new ones", "+60 points   helps, also on new
// cases of this kind (likely +23 … +80)"
TerminalText LiftLine(const StudentVerdict& verdict, double shown, const Style& style);

// Cases that no student ever passed (floor) and that always passed in every arm (ceiling); one line each. `how_to_see`:
// the command that shows why, on a line of its own after the former; may be empty.
TerminalText EvalCaseNotes(const JudgedRun& run, const std::string& how_to_see = "");

// Every case: in each arm how its answers fared and which check failed on what (-v). `how_to_see`: the command that
// shows answers in full, at the end if some were cut; may be empty.
TerminalText EvalCases(const RunData& data, const Style& style, const std::string& how_to_see = "");

}  // namespace upskill
