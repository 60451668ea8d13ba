// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace upskill {

// The last command that was named on the command line that `app` has parsed: `app` itself if none was.
const CLI::App& NamedCommand(const CLI::App& app);

struct UsageProblem {
  const CLI::App* command = nullptr;  // whose usage would help
  std::string message;                // without a full stop
};

// What is wrong with the command line that `app` could not parse; unknown commands and options come with the nearest
// known ones.
UsageProblem ExplainUsage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace upskill
