// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "teach/trial.h"

namespace upskill {

// Ids of the cases that at least one answer with the skill failed.
std::set<std::string> FailedCases(const Trial& trial);

// Number of passing answers with the skill to the given cases in the first round, over all students.
std::size_t PassedInFirstRound(const Trial& trial, const std::set<std::string>& case_ids);

// Number of answers that passed in one trial and not in another, matched by student, case and round.
std::size_t LostAnswers(const Trial& before, const Trial& after);

}  // namespace upskill
