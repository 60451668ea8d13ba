// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "cli/env/env.h"

namespace upskill {

// The skill that comes with the program, with its cases: in the source tree or beside the installed program.
std::optional<std::filesystem::path> FindExampleSkill(const Env& env);

}  // namespace upskill
