// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string output;  // file; empty or "-": standard output
  std::string format;  // empty: by the file's extension, else text
  std::string runs_dir;
  ColorMode color = ColorMode::kAuto;
};

void AddReportCommand(CLI::App& app, ReportOptions& options);
ExitCode RunReport(const ReportOptions& options, Env& env);

}  // namespace upskill
