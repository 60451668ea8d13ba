// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"
#include "cli/skills/agent_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct InstallOptions {
  std::string skill;
  AgentChoice where;
  bool link = false;
  bool copy = false;
  bool with_tests = false;
  bool force = false;
  bool dry_run = false;
};

void AddInstallCommand(CLI::App& app, InstallOptions& options);
ExitCode RunInstall(const InstallOptions& options, Env& env);

struct UninstallOptions {
  std::string name;
  AgentChoice where;
  bool force = false;
  bool dry_run = false;
};

void AddUninstallCommand(CLI::App& app, UninstallOptions& options);
ExitCode RunUninstall(const UninstallOptions& options, Env& env);

}  // namespace upskill
