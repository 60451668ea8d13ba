// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

// The skill that `skill` names, as an absolute path: a folder, or the only skill below it, its SKILL.md (then its
// folder) or an archive, else a name in the configured folder of skills. Errors: none of these is there; several are
// below the folder; the configuration can't be read.
Result<std::filesystem::path> PathOfSkill(const std::string& skill, const Env& env);

}  // namespace upskill
