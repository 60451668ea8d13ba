// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "eval/plan/plan.h"
#include "skill/suite.h"

namespace upskill {

// The built-in system prompt of every arm (assets/prompts/student.md).
std::string BuiltInSystemPrompt();

// The system prompt of an arm: the common one, followed in the arms with a skill (or placebo) by
// <skill name="…">body</skill> and nothing else, so that the arms differ in the skill alone.
std::string SystemPrompt(const Plan& plan, Arm arm);

// The user's message: the input, then each context file as a fenced block whose info string is the file's name.
std::string UserMessage(const Case& test_case);

// An answer that passes the case, for the simulated student: the reference, else one made from the expected texts;
// empty if there are neither.
std::string PassingAnswer(const Case& test_case);

}  // namespace upskill
