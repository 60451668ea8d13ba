// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Journaled by name (ArmName): never rename.
enum class Arm { kBaseline, kSkill };

const char* ArmName(Arm arm);
Result<Arm> ArmFromName(std::string_view name);

// The skill as it was when the run began.
struct SkillSnapshot {
  std::string name;
  std::string folder;  // where it came from, for people
  std::string body;
  std::string sha256;  // of the body
};

// A model under test, as resolved when the run began.
struct Student {
  std::string spec;      // the model string as given: what `--resume` and the resume line use
  std::string name;      // for tables
  std::string identity;  // ModelInfo::identity
};

// Everything that is needed to repeat a run; plan.json. Fields persisted by the names in ToJson.
struct Plan {
  std::string run;  // name of the run's folder
  std::string created;
  SkillSnapshot skill;
  Suite suite;
  std::vector<Student> students;
  std::vector<Arm> arms;
  int rounds = 1;
  Sampling sampling;  // seed: of the whole run; each cell's is derived from it
  std::string system_prompt;
};

inline constexpr int kPlanSchema = 1;
inline constexpr int kMostRounds = 100000;

Json PlanToJson(const Plan& plan);
// Errors: malformed, or written by a newer version.
Result<Plan> PlanFromJson(const Json& json, const std::string& source);

// Reads plan.json in a run's folder.
Result<Plan> LoadPlan(const std::filesystem::path& run_folder);

SkillSnapshot Snapshot(const Skill& skill);

}  // namespace upskill
