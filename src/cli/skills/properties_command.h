// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct PropertiesOptions {
  std::vector<std::string> paths;  // read-properties has one
};

void AddReadPropertiesCommand(CLI::App& app, PropertiesOptions& options);
ExitCode RunReadProperties(const PropertiesOptions& options, Env& env);

void AddToPromptCommand(CLI::App& app, PropertiesOptions& options);
ExitCode RunToPrompt(const PropertiesOptions& options, Env& env);

}  // namespace upskill
