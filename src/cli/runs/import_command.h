// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "import/imported_results.h"

namespace CLI {
class App;
}

namespace upskill {

struct ImportCommandOptions {
  std::vector<std::string> files;  // and folders
  std::string runs_dir;            // empty: from the configuration
  ImportOptions reading;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddImportCommand(CLI::App& app, ImportCommandOptions& options);

// Writes a run for each evaluation and prints its verdict. Content that was imported before makes no second run.
ExitCode RunImport(const ImportCommandOptions& options, Env& env);

}  // namespace upskill
