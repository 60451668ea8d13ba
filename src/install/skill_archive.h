// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "install/skill_files.h"
#include "util/result.h"

namespace upskill {

// Whether a file is named like an archive of a skill: .skill or .zip.
bool IsSkillArchive(const std::filesystem::path& file);

// Reads a zip archive that has SKILL.md at its top or in its only folder. `source` names it in messages; `name` is the
// skill's if neither SKILL.md nor a folder states one. Errors: those of CheckedSkill; a damaged or too large archive;
// an entry that is absolute, leads out of the archive, isn't a regular file, or is there twice.
Result<SkillFiles> ParseSkillArchive(std::string_view bytes, const std::string& source, const std::string& name,
                                     EvaluationFiles evaluation);

// The same from a file. Nothing is written.
Result<SkillFiles> ReadSkillArchive(const std::filesystem::path& file, EvaluationFiles evaluation);

// A skill's folder, its SKILL.md, or an archive of it. Errors: those of ReadSkillFolder and ReadSkillArchive; none of
// these.
Result<SkillFiles> ReadSkillSource(const std::filesystem::path& source, EvaluationFiles evaluation);

// A zip archive of the skill's files in a folder of its name: sorted by name, uncompressed, with fixed times and modes,
// so that equal files give equal bytes everywhere.
std::string SkillArchive(const SkillFiles& skill);

}  // namespace upskill
