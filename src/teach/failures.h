// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "skill/suite.h"
#include "teach/trial.h"

namespace upskill {

// What a teacher is told of the students' answers with a skill: each failing case once, with how often it failed, one
// of the failing answers, the checks that this answer failed, whether the skill has the texts that it lacks, what the
// student says without a skill, and the reference answer; then the requests of a few cases that always passed. Cases
// that don't fit into `budget_tokens` are left out and counted; an answer is shortened in the middle if it takes more
// than a quarter of the budget. `with_baseline`: a trial on the same cases without a skill.
std::string FailuresText(const Trial& trial, const Trial& with_baseline, std::size_t budget_tokens);

// For each text of the case's checks that a failing answer lacks, a line with whether the skill's body has it: "stands
// in the skill, line 12" (the student didn't find it there) or "absent from the skill".
std::string MissingTexts(const Case& test_case, const std::string& answer, const std::string& body);

}  // namespace upskill
