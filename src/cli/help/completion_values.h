// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/help/completion.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace upskill {

// What the value of an option or argument may be.
struct CompletionValues {
  std::vector<CompletionWord> words;
  CompletionPaths paths = CompletionPaths::kNone;
};

// By what the help calls the value (MODEL, SKILL, RUN, FILE, …), or by the names that the option accepts. At most 1,000
// names of each kind.
CompletionValues ValuesOf(const CLI::App& command, const CLI::Option& option, const Env& env);

}  // namespace upskill
