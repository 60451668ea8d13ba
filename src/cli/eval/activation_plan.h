// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "skill/skill.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The file of a skill's own queries, relative to its folder.
inline constexpr const char* kQueriesFile = "evals/eval_queries.json";

// The queries of `tests`, or, if it is empty, of the skill: cases with a check of the type `activates`. Error
// (kNotFound): there is none.
Result<Suite> LoadQueries(const std::string& tests, const std::filesystem::path& skill_folder);

// Marks each query as one of the train or of the test split: by its text, about three of five are train, of those that
// should trigger as of the others. Errors: fewer than two that should trigger.
Result<Suite> SplitQueries(Suite queries);

struct SkillsFound {
  std::vector<Skill> skills;
  std::vector<std::string> warnings;  // about those that are left out
};

// The skills to choose from besides another one. `among`: folders of skills, or folders with several; none: those next
// to `skill`.
Result<SkillsFound> OtherSkills(const std::vector<std::string>& among, const Skill& skill);

}  // namespace upskill
