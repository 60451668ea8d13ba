// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "install/agents.h"
#include "install/skills_folder.h"
#include "util/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace upskill {

// Which of an agent's folders a command changes.
struct AgentChoice {
  std::vector<std::string> agents;  // of --agent
  bool project = false;
  bool user = false;
};

// --agent, which is required, --project and --user. `all`: how help names the value for all agents. Returns --agent.
CLI::Option* AddAgentOptions(CLI::App& command, AgentChoice& choice, const std::string& all = "all");

// Whether `all` is among them. It is taken everywhere but by an `install` that writes, which would make folders for
// agents that nobody uses.
bool MeansAllAgents(const std::vector<std::string>& ids);

// The agents with these ids. `all` is all of them where `all_allowed`. Errors: an unknown agent; `all`, which names the
// folders that it would mean.
Result<std::vector<const Agent*>> AgentsNamed(const std::vector<std::string>& ids, bool all_allowed);

// The folders that are meant. Errors: those of AgentsNamed and TargetsFor.
Result<std::vector<InstallTarget>> TargetsOf(const AgentChoice& choice, bool all_allowed, const Env& env);

// "Claude Code, Goose".
std::string NamesOfAgents(const std::vector<std::string>& ids);

// The current folder. Error: it was removed.
Result<std::filesystem::path> CurrentFolder();

// Where it is remembered what was installed. Error: neither HOME nor XDG_CONFIG_HOME is set.
Result<std::filesystem::path> RecordsFolder(const Env& env);

}  // namespace upskill
