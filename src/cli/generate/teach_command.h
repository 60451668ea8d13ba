// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/eval/workspace_option.h"
#include "cli/models/sandbox_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct TeachOptions {
  std::string cases;
  std::string task;
  std::string teacher;
  std::vector<std::string> students;
  std::vector<std::string> base_urls;
  std::string output;  // the skill's folder; empty: named after the cases or the task
  int rounds = 1;
  int max_tokens = 4096;
  int parallel = 0;
  WorkspaceChoice workspace;
  SandboxChoice sandbox;
  std::optional<double> max_cost_usd;
  std::string runs_dir;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

void AddTeachCommand(CLI::App& app, TeachOptions& options);

// Has the teacher solve some of the cases in workspaces, write a skill from how it did, and measures what the skill
// does for the students on the other cases. The same command continues what was interrupted, and prints the result
// again of what was finished.
ExitCode RunTeach(const TeachOptions& options, Env& env);

}  // namespace upskill
