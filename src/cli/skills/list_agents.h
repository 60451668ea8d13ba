// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace upskill {

// What `list --agent` prints.
struct ListAgentsOptions {
  std::vector<std::string> agents;  // Agent::id; `all` is all of them
  bool verbose = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

// Prints the skills that these agents find from the current folder.
ExitCode ListSkillsOfAgents(const ListAgentsOptions& options, Env& env);

}  // namespace upskill
