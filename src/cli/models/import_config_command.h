// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ImportConfigOptions {
  std::vector<std::string> files;  // none: fastagent.config.yaml and fastagent.secrets.yaml in the current folder
  bool write = false;
};

void AddImportConfigCommand(CLI::App& app, ImportConfigOptions& options);

// Shows what fast-agent's configuration means here. With --write, keys of providers that the user has none for are
// added to keys.toml, and the default model to a configuration of the user's own that doesn't exist yet. Base URLs and
// commands of MCP servers are only shown: the files may have come with a project.
ExitCode RunImportConfig(const ImportConfigOptions& options, Env& env);

}  // namespace upskill
