// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace upskill {

// What tells versions of one skill from other skills, whatever they are called: `lineage` in the folder's lineage.json,
// else the generation that skill_meta.json names (`metadata.generation`). Empty: the skill wasn't generated, or neither
// file can be read.
std::string LineageOf(const std::filesystem::path& skill_folder);

// How often a generation has measured a version of the skill on its held-out cases (`metadata.test_looks` in
// skill_meta.json; 1 if it only names a run, as files of earlier versions do).
int TestLooksOf(const std::filesystem::path& skill_folder);

}  // namespace upskill
