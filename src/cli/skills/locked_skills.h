// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/skills/install_source.h"
#include "util/result.h"

namespace upskill {

// What the lock in the root of this project pins, fetched or read again, and the same to the byte: upskill.lock, or
// without it skills-lock.json, which names no agents. `agents` (Agent::id): only what is for these; empty: all. Errors:
// no lock, or none that can be used; all skills whose source no longer gives what was locked.
Result<std::vector<SkillToInstall>> ReadLockedSkills(const std::vector<std::string>& agents, const Env& env);

}  // namespace upskill
