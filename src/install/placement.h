// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "install/skill_files.h"
#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// What has a name in a folder of skills is put there and taken away as a whole, by renaming: agents and a crash find
// the old skill, the new one, or none, never a part of one. What an interrupted call leaves behind is hidden and
// removed by the next one for the same skill.

// Whether a new skill may take the place of what has its name.
enum class Replace { kNo, kYes };

// Makes a folder with these files. Error: the name is taken (kNo) or, with kYes, isn't; a file can't be written. The
// folder then has what it had before.
Status PlaceCopy(const Folder& skills, const std::string& name, const FileMap& files, Replace replace);

// The same for a symbolic link to `target`.
Status PlaceLink(const Folder& skills, const std::string& name, const std::filesystem::path& target, Replace replace);

// Removes a skill, or the link to it.
Status RemovePlaced(const Folder& skills, const std::string& name);

}  // namespace upskill
