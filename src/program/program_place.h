// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "program/program.h"
#include "util/result.h"
#include "util/user_folders.h"

namespace upskill {

// Where a program is installed.
struct ProgramPlace {
  std::filesystem::path executable;  // without links
  std::string version;               // of its package; empty: unknown
  std::string node_range;            // of Node.js, which its package asks for: ">=22.19.0"; empty: any or none
  std::filesystem::path node;        // Node.js, if it is a script for it
  std::vector<std::filesystem::path> toolchains;  // folders outside of the system's that it needs, to read
};

// Looks for the program in PATH, and for what it needs to run: the packages beside it and Node.js. Nothing is started.
// Error (kNotFound): it isn't there, and how to install it; or Node.js isn't.
Result<ProgramPlace> FindProgramPlace(const AgentProgram& program, const VariableLookup& variable);

// How to install it: "npm install -g @openai/codex".
std::string InstallHintOf(const AgentProgram& program);

}  // namespace upskill
