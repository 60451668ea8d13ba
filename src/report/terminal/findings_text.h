// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "util/terminal_text.h"

namespace upskill {

// What a reader of the verdict on one student should know about single cases, a line each, without a label or newline:
// which cases turned, how many were used to write the skill, whether pass rates drifted.
std::vector<TerminalText> FindingNotes(const JudgedRun& run, std::size_t student);

// The lift on cases with and without executed checks, "checks executed · 6 cases · +40 points (likely +12 … +68)", if
// the run has both.
std::vector<std::string> GroundTexts(const JudgedRun& run, std::size_t student);

// The lift of the tags of one student's cases, "  tag …" lines; the largest groups if there are many. Empty without
// tags.
TerminalText TagLines(const JudgedRun& run, std::size_t student);

// For -v, by student: the names of the cases that turned, all tags, pass@k and pass^k.
TerminalText FindingDetails(const JudgedRun& run);

}  // namespace upskill
