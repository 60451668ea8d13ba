// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "eval/verdict/judged_run.h"
#include "util/json.h"

namespace upskill {

// Who judged the answers, and how far that can be trusted: "judged by haiku, which nobody has compared with people
// (upskill judge-check)"; empty without a judge.
std::string JudgeText(const Plan& plan);
std::string JudgeText(const RunJudge& judge);

// What the judge was asked for and what that cost: "haiku judged 36 answers, $0.0120"; empty without a judge.
std::string JudgeSpentText(const JudgedRun& run);

// The lift corrected for the judge's errors: "corrected for the judge's errors: …"; empty if there is nothing to
// correct with.
std::string CorrectedLiftText(const JudgedRun& run, std::size_t student);

// `judge` and a student's `judge_corrected` of `eval --json` (docs/output.md); null without a judge or correction.
Json JudgeToJson(const JudgedRun& run);
Json CorrectedLiftToJson(const JudgedRun& run, std::size_t student);

}  // namespace upskill
