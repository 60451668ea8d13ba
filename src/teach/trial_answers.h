// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "teach/trial.h"

namespace upskill {

// Ids of the cases that some answer with the skill failed.
std::set<std::string> FailedCases(const Trial& trial);

// Answers of the first round with the skill that passed, over students, of some cases.
std::size_t PassedInFirstRound(const Trial& trial, const std::set<std::string>& case_ids);

// Answers that passed in one trial and don't in another: the same case and round of the same student.
std::size_t LostAnswers(const Trial& before, const Trial& after);

}  // namespace upskill
