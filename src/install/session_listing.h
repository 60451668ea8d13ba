// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "install/agents.h"

namespace upskill {

// A skill as its agent knows it before any of it is read.
struct SkillHead {
  std::string name;
  std::string description;  // with the other fields that the agent lists (AgentListing::more)
  std::string file;         // of SKILL.md
  bool is_hidden = false;   // only its user can call it
  std::size_t uses = 0;     // lately
};

// What a session carries of it.
struct ListedHead {
  std::string line;         // empty: nothing
  std::size_t cut_off = 0;  // characters of the description that are missing
};

// What every session of an agent says of these skills, which are all that it finds. `room`: instead of the listing's.
std::vector<ListedHead> HeadsInSession(const AgentListing& listing, std::optional<std::size_t> room,
                                       const std::vector<SkillHead>& skills);

// Which skills have nearly the same description or the same name, so that an agent can't tell them apart: for each
// skill, the others.
std::vector<std::vector<std::size_t>> ClashesOf(const std::vector<SkillHead>& skills);

}  // namespace upskill
