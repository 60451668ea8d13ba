// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "teach/generate.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// In place of a verdict, where there is none.
inline constexpr const char* kTooSmall = "too small for this skill";
inline constexpr const char* kPassedNothing = "no test passed";
inline constexpr const char* kNothingToLearn = "nothing to learn";

// Facts about a generation besides its outcome.
struct GenerationFacts {
  std::string id;              // the name of its folder
  std::string version;         // of the program
  std::string generated_by;    // the teacher's model string
  std::string test_gen_model;  // the same for the cases; "given" when the user gave them
  std::string generated_at;    // UTC
  std::string task;
  std::string lineage;                        // LineageOf the skill that was improved, else `id`
  int looks_before = 0;                       // at the held-out cases (TestLooksOf), before this generation
  bool counts_looks = true;                   // whether this generation's counts as well
  std::vector<std::string> sources;           // traces, documents
  std::map<std::string, StageCost> teachers;  // by stage, over all sessions
  std::map<std::string, StageCost> students;  // the same
};

// skill_meta.json: the fields of the Python tool of the same name, additional fields, and the cases with their split.
Json SkillMetaToJson(const GenerateOutcome& outcome, const GenerationFacts& facts);

// Writes SKILL.md, references/, scripts/, skill_meta.json and lineage.json below `folder`, with the other files of the
// skill in `existing`, unless that is empty. First skill_meta.json, which names the generation, and last SKILL.md: one
// that is killed in between finds its own work there when it goes on.
Status WriteGeneratedSkill(const GenerateOutcome& outcome, const GenerationFacts& facts, const Folder& folder,
                           const std::filesystem::path& existing = {});

}  // namespace upskill
