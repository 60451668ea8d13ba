// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct CompletionOptions {
  std::string shell;
};

void AddCompletionCommand(CLI::App& app, CompletionOptions& options);

// Prints the script that completes command lines in a shell. It asks the program in PATH (kCompleteCommand).
ExitCode RunCompletion(const CompletionOptions& options, Env& env);

// The first argument of what the scripts run: `upskill complete -- WORD...`. It is no command of the help.
inline constexpr std::string_view kCompleteCommand = "complete";

// Prints what the last of the words after "--" could become.
ExitCode RunComplete(const CLI::App& app, const std::vector<std::string>& arguments, Env& env);

}  // namespace upskill
