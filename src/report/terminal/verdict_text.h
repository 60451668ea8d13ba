// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// What is said of a verdict in every format, so that no two reports differ. The texts contain names of cases and
// models: escape them as the format needs.

// No counted case passed once, in any arm: there is nothing that a lift could show.
bool NothingPassed(const StudentVerdict& verdict);

// Whether requests were sent, and none was answered.
bool AllRequestsFailed(const StudentSummary& student);

// "these 12 cases", "this case".
std::string CasesText(const StudentVerdict& verdict);

// Most cases always pass in every arm, the lift is at most 10 points, and deciding takes more rounds than there were:
// harder cases would tell more.
bool IsTooEasy(const StudentVerdict& verdict);

// "helps on these 12 cases; unproven for new ones", "helps, also on new cases of this kind", "undecided because of
// errors".
std::string ClaimText(const StudentVerdict& verdict);

// "likely +23 … +80", the interval for new cases of a claim that is about these, too; else "".
std::string NewCasesText(const StudentVerdict& verdict);

// The claim and what else belongs beside it: "helps, also on new cases of this kind (likely +23 … +80)", "undecided,
// about 4 more rounds", "undecided; about 18 more rounds for 'no effect'", "no effect on these 12
// cases, 37 % more tokens in all".
std::string VerdictText(const StudentVerdict& verdict);

// "about 8 more rounds", "more than 80 more rounds", "about 18 more rounds for 'no effect'"; ""
// without a forecast, or if the cases are too easy.
std::string MoreRoundsText(const StudentVerdict& verdict);

// The lift against `reference` as people read it, in every place: the median-unbiased estimate of a run that may stop
// when decided, if it noticeably differs; else the measured lift, as the difference of the rounded pass rates where it
// is theirs (31 % → 65 % is +34).
std::optional<double> ShownLift(const StudentSummary& student, const StudentVerdict& verdict, Arm reference);

// "likely +27 … +56": the interval for these cases, at its level (95 % or more); "" without one.
std::string TheseCasesText(const StudentVerdict& verdict);

// "+42 points (likely +27 … +56)"; without the interval where that for new cases leads (VerdictText).
std::string LiftText(const StudentVerdict& verdict, double shown);

// "14 timeouts and 1 rate limit"; empty without errors. `lost_only`: only those that may depend on the answer.
std::string ErrorsText(const std::map<ErrorCause, std::size_t>& errors, bool lost_only = false);

// "14 of 50 requests failed: 14 timeouts"; empty if none did.
std::string AttemptsText(const ArmSummary& arm);

// Why cells of a run that may stop when decided were skipped: "the verdict was already known"; of several models, all
// their reasons, joined by "or".
std::string SkippedText(const JudgedRun& run);

// What a verdict rests on or doesn't, one line each, where that isn't plain: errors, excluded cases, answers that
// repeat, an interval that seems to say more than the word.
std::vector<std::string> VerdictRemarks(const JudgedRun& run, std::size_t student);

}  // namespace upskill
