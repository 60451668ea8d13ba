// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/skill.h"
#include "teach/teacher.h"
#include "util/result.h"

namespace upskill {

// A skill among others, as the teacher is told of it.
struct ListedSkills {
  Skill skill;
  std::vector<std::string> others;  // "name: description"
};

// What a description has led to.
struct DescriptionTrial {
  std::vector<std::string> missed;  // queries, with how often
  std::vector<std::string> misled;
  std::vector<std::string> tried;  // earlier descriptions, with their figures
};

// Asks the teacher for a description by which the skill is found. Error (kInput): its answer is no description that a
// skill may have, or the one that it has; for others see Teacher::Ask.
Result<std::string> BetterDescription(Teacher& teacher, const Prompts& prompts, const ListedSkills& skills,
                                      const DescriptionTrial& trial, int attempt);

struct WrittenQuery {
  std::string query;
  bool should_trigger = true;
};

// Asks the teacher for `count` queries that should make an agent load the skill, and as many near misses. Repetitions
// and those that name the skill are left out. Error (kInput): none of a kind is left; for others see Teacher::Ask.
Result<std::vector<WrittenQuery>> WriteQueries(Teacher& teacher, const Prompts& prompts, const ListedSkills& skills,
                                               std::size_t count);

}  // namespace upskill
