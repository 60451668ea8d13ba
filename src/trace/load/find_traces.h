// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "util/result.h"
#include "util/user_folders.h"

namespace upskill {

// A trace in an agent's own folder.
struct FoundTrace {
  std::filesystem::path path;
  std::string agent;             // "claude-code"
  std::int64_t modified_ms = 0;  // since 1970
  std::uint64_t bytes = 0;
};

// Names of the agents whose folders are known.
std::vector<std::string> KnownTraceAgents();

// The traces in the agents' folders below the user's home, newest first; with an empty `agent`, those of all agents.
// `variable` gives HOME and the variables that move an agent's folder (CLAUDE_CONFIG_DIR, CODEX_HOME, …). Symbolic
// links to folders are not followed. Errors: an unknown agent, no HOME.
Result<std::vector<FoundTrace>> FindTraces(const VariableLookup& variable, const std::string& agent);

// The files that a command-line argument refers to: the file itself, the traces in a folder (without hidden files and
// subagents, which are read with their session), or the matches of a pattern with `*`, `?` and `[…]`. Sorted. Symbolic
// links to folders inside a folder are not followed.
Result<std::vector<std::filesystem::path>> ExpandTraceArgument(const std::string& argument);

}  // namespace upskill
