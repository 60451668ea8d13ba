// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/style.h"

namespace upskill {

// The result of a run for somebody who has read nothing else: the first sentence says what to use, the others how sure
// that is, what it costs and what is cheaper. No more than the verdicts (JudgeRun) and the best value (FindSweetSpot)
// claim. Never empty. The sentences contain names of models and messages of servers: escape them as the format needs.
std::vector<std::string> ResultSentences(const JudgedRun& run);

// The same in one text.
std::string ResultText(const JudgedRun& run);

// A line for each sentence, the first of them in bold.
TerminalText ResultLines(const JudgedRun& run, const Style& style);

}  // namespace upskill
