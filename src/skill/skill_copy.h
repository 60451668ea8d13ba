// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// Copies what makes up a skill, with its permissions: skill_meta.json, lineage.json, references/, scripts/, assets/,
// and last SKILL.md, so that a copy with this file is complete. Files that `to` already has stay as they are; links in
// the folders are left out.
Status CopySkillFiles(const std::filesystem::path& from, const Folder& to);

// An error if a folder into which a skill's files would be written is a link.
Status CheckSkillFolders(const std::filesystem::path& folder);

}  // namespace upskill
