// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/generate/generate_session.h"
#include "util/result.h"

namespace upskill {

// Before a model is asked: adds a line that says where the skill will go and what it will replace. Error (kInput):
// another skill is there, one of the same task or sources included, and there is no --overwrite.
Status PlanPlace(GenerateSession& session);

// The name of --name, else that of -o; empty: none is given, or the folder's name says nothing about a skill.
std::string NameGiven(const GenerateSession& session);

// Whether a name would fit any skill, or any file of cases: "skill", "my-new-skill-2", "out1", "eval-queries".
bool SaysNothing(const std::string& name);

// `name`; if it says nothing and none is given, what the folder of -o makes of one ("My Kernels": my-kernels). If
// another skill has its folder and the name is free to choose: the first of NAME-2, NAME-3 … that no skill has.
std::string NameToUse(const GenerateSession& session, const std::string& name);

// With --overwrite: copies another skill in `folder` into the generation's folder, removes its files and tells where
// the copy is. Empty: no other skill is there, or one that came after an earlier session had made the copy; it stays.
Result<std::filesystem::path> MakeRoom(const GenerateSession& session, const std::filesystem::path& folder);

}  // namespace upskill
