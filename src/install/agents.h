// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"
#include "util/user_folders.h"

namespace upskill {

// What an agent says of its skills in every session. The comments in assets/agents.toml explain the members.
struct AgentListing {
  std::string line = "{name}: {description}";
  std::size_t longest = 0;  // 0: as long as it is
  std::size_t room = 0;     // 0: no limit is known
  bool in_tokens = false;   // `room` counts tokens of four bytes, not characters
  std::string variable;
  bool cuts_least_used = false;
  std::vector<std::string> more;
  std::string hidden;
  std::string source;  // empty: nothing is known of this agent
};

// A program that finds skills in certain folders, or a convention that several of them follow.
struct Agent {
  std::string id;                                // "claude-code"
  std::string name;                              // "Claude Code"
  std::vector<std::string> project_folders;      // relative to a project; skills are installed into the first
  std::vector<std::string> user_folders;         // the same, "~/…" or absolute
  std::map<std::string, std::string> variables;  // environment variable → the start of user folders that it replaces
  AgentListing listing;
  bool is_other = false;  // one of [others]: a user folder may be missing
  bool upward = false;    // it reads the project folders of each folder from the current one up to the project's root
};

// assets/agents.toml, which is part of the program.
std::string_view BuiltInAgents();

// The agents in `text`, which is like assets/agents.toml. Errors name `file`, line and column.
Result<std::vector<Agent>> ParseAgents(std::string_view text, const std::string& file);

// The built-in agents; parsed once. Thread-safe.
const std::vector<Agent>& KnownAgents();

// Error: there is no such agent; the message names the nearest one and all of them. The agent lives as long as the
// program.
Result<const Agent*> FindAgent(const std::string& id);

// The ids of those that have a table of their own, and how many others there are: "agents, claude-code, … and 65 others
// (docs/install.md)".
std::string AgentIds();

// The agent's user folders as absolute paths, the one for installing first; [others] may have none. Error: the
// environment doesn't say where the home is.
Result<std::vector<std::filesystem::path>> UserFoldersOf(const Agent& agent, const VariableLookup& variable);

// The root of the git repository that `folder` is in, else `folder` itself.
std::filesystem::path ProjectRootOf(const std::filesystem::path& folder);

}  // namespace upskill
