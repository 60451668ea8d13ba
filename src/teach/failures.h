// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "skill/skill_text.h"
#include "skill/suite.h"
#include "teach/trial.h"

namespace upskill {

// What a teacher is told of the students' answers with a skill: each failing case once, with how often it failed, the
// file with the gap, one of the failing answers, the checks that this answer failed, whether the skill has the texts
// that it lacks, what the student says without a skill, and the reference answer; then the requests of a few cases that
// always passed. Cases that don't fit into `budget_tokens` are left out and counted; an answer is shortened in the
// middle if it takes more than a quarter of the budget. `with_baseline`: a trial on the same cases without a skill.
// `skill`: that of the trial.
std::string FailuresText(const Trial& trial, const Trial& with_baseline, const SkillText& skill,
                         std::size_t budget_tokens);

// For each text of the case's checks that a failing answer lacks, a line with where the skill has it: "in the skill,
// line 12" (the student didn't find it there), "in references/bindings.md", "absent from the skill", with the line that
// has half of it or more, or, for the texts of a transfer, "follows from the skill, line 12" if that line has the text
// with a word in capitals (NAME) where the test has a name. Alternatives of which one is enough share a line. If the
// case runs what is answered, also the words of its reference that neither the request nor the answer has.
std::string MissingTexts(const Case& test_case, const std::string& answer, const SkillText& skill);

// Of a failed check that looks for a pattern, or for a value under a key: " (the skill's line 12 matches)". Empty for
// other checks.
std::string PlaceOfCheck(const CheckSpec& check, const SkillText& skill);

}  // namespace upskill
