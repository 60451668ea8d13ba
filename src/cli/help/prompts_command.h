// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct PromptsOptions {
  std::string name;    // empty: all are listed
  std::string folder;  // with prompts in place of built-in ones; may be empty
};

void AddPromptsCommand(CLI::App& app, PromptsOptions& options);
ExitCode RunPrompts(const PromptsOptions& options, Env& env);

}  // namespace upskill
