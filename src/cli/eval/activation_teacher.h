// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/eval/eval_options.h"
#include "skill/skill.h"
#include "teach/generation_budget.h"
#include "teach/improve_description.h"
#include "teach/teacher.h"
#include "util/result.h"

namespace upskill {

// How many queries a teacher is asked for: that many that should make an agent load the skill, and as many near misses.
inline constexpr std::size_t kQueriesOfAKind = 10;

// A teacher with its model, and its answers stored in the runs folder, so that the same command pays for none twice.
struct OpenedTeacher {
  std::unique_ptr<Model> model;
  std::optional<Teacher> teacher;  // asks `model`
};

// `budget` and `env` outlive it.
Result<OpenedTeacher> OpenActivationTeacher(const std::string& spec, const Skill& skill, const EvalOptions& options,
                                            const Config& config, GenerationBudget& budget, Env& env);

// The skill and those that it is among, for the teacher. Error: one of them can't be read.
Result<ListedSkills> ListedSkillsOf(const Skill& skill, const EvalOptions& options);

// Has the teacher write the queries of a skill into kQueriesFile, and says so.
Status WriteQueriesOf(const Skill& skill, const EvalOptions& options, Teacher& teacher, Env& env);

// With --activation and --test-gen-model, for a skill without queries: the same, within the run's limit of cost.
Status WriteMissingQueries(const Skill& skill, const EvalOptions& options, const Config& config, Env& env);

}  // namespace upskill
