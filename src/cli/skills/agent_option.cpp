// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/agent_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <system_error>

#include "util/files.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAll = "all";

}  // namespace

CLI::Option* AddAgentOptions(CLI::App& command, AgentChoice& choice, const std::string& all) {
  CLI::Option* const agent =
      command.add_option("--agent", choice.agents, fmt::format("Agent (repeatable): {}; or {}", AgentIds(), all))
          ->required()
          ->allow_extra_args(false)
          ->type_name("NAME");
  CLI::Option* const project =
      command.add_flag("--project", choice.project, "The agent's folder in this project, the default");
  CLI::Option* const user =
      command.add_flag("--user", choice.user, "The agent's folder in your home, for all projects");
  user->excludes(project);
  return agent;
}

bool MeansAllAgents(const std::vector<std::string>& ids) {
  return std::find(ids.begin(), ids.end(), kAll) != ids.end();
}

Result<std::vector<const Agent*>> AgentsNamed(const std::vector<std::string>& ids, bool all_allowed) {
  std::vector<const Agent*> agents;
  for (const std::string& id : ids) {
    if (id == kAll && all_allowed) {
      for (const Agent& agent : KnownAgents()) agents.push_back(&agent);
      continue;
    }
    if (id == kAll) {
      return InputError(
          fmt::format("--agent all would change the folders of {} agents; see which with --dry-run, then "
                      "name the agents that you use: {}",
                      KnownAgents().size(), AgentIds()));
    }
    ASSIGN_OR_RETURN(const Agent* const agent, FindAgent(id));
    agents.push_back(agent);
  }
  return agents;
}

Result<std::vector<InstallTarget>> TargetsOf(const AgentChoice& choice, bool all_allowed, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<const Agent*> agents, AgentsNamed(choice.agents, all_allowed));
  ASSIGN_OR_RETURN(const fs::path current, CurrentFolder());
  return TargetsFor(agents, choice.user ? InstallScope::kUser : InstallScope::kProject, current, env.variable);
}

std::string NamesOfAgents(const std::vector<std::string>& ids) {
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const Result<const Agent*> agent = FindAgent(id);
    names.push_back(agent ? (*agent)->name : id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<fs::path> CurrentFolder() {
  std::error_code code;
  fs::path current = fs::current_path(code);
  if (code) return ErrnoError("opening folder", ".", code.value());
  return current;
}

Result<fs::path> RecordsFolder(const Env& env) {
  fs::path folder = UserConfigFolder(env.variable);
  if (folder.empty()) {
    return Error{ErrorKind::kNotFound,
                 "neither HOME nor XDG_CONFIG_HOME is set, so it can't be remembered what is installed; set HOME"};
  }
  return folder;
}

}  // namespace upskill
