// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "teach/choice.h"
#include "teach/trial.h"

namespace upskill {

// Ids of the cases that at least one answer failed.
std::set<std::string> FailedCases(const Trial& trial, Arm arm = Arm::kSkill);

// Number of passing answers with the skill to the given cases, over all students.
std::size_t AnswersPassed(const Trial& trial, const std::set<std::string>& case_ids);

// What one student passed with the skill.
struct PassedByStudent {
  std::set<std::string> always;  // ids of the cases that all its answers passed
  std::size_t answers_passed = 0;
};
using PassedCases = std::map<std::string, PassedByStudent>;  // by Student::spec
PassedCases AlwaysPassed(const Trial& trial);

// By case: how many answers with the skill passed, over all students. Cases that none passed are absent.
std::map<std::string, std::size_t> PassesByCase(const Trial& trial);

// Of the answers with the skill to the cases that each student always passed before: how many there are
// (`best_passed`), and how many of them pass.
Screening AnswersKept(const Trial& trial, const PassedCases& before);

// Number of answers that passed in one trial and not in another, matched by student, case and round.
std::size_t AnswersLost(const Trial& before, const Trial& after);

}  // namespace upskill
