// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/shard_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/eval/option_row.h"
#include "util/text.h"

namespace upskill {
namespace {

// Whether --resume takes the option of "--seed=7" from the run's plan.
bool IsDecidedByPlan(const std::string& argument) {
  const EvalOption* row = FindEvalOption(argument.substr(0, argument.find('=')));
  return row != nullptr && (row->traits & kInPlan) != 0;
}

}  // namespace

std::vector<std::string> ShardArguments(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const EvalOption& row : EvalOptionRows()) {
    const std::string name = LongNameOf(row);
    if (name.empty() || (row.traits & (kOfWholeRun | kOnlyBenchmark)) != 0) continue;
    const CLI::Option* option = command.get_option(name);
    if (option->count() == 0) continue;
    if (option->get_items_expected_max() == 0) {  // a flag
      arguments.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) arguments.push_back(fmt::format("{}={}", name, value));
  }
  return arguments;
}

Result<std::vector<std::string>> ConfirmedArguments(const CLI::App& command, const std::vector<std::string>& stored) {
  const std::vector<std::string> given = ShardArguments(command);
  for (const std::string& argument : stored) {
    const bool repeated = std::find(given.begin(), given.end(), argument) != given.end();
    if (repeated || IsDecidedByPlan(argument)) continue;
    return InputError(fmt::format("the run was started with {}: to confirm that it may be used, give it again",
                                  ShellWord(ExcerptLine(argument, 200))));
  }
  for (const std::string& argument : given) {
    if (std::find(stored.begin(), stored.end(), argument) != stored.end()) continue;
    return InputError(
        fmt::format("the run was started without {}; leave it out, or start a new run", ShellWord(argument)));
  }
  return stored;
}

std::vector<std::string> ArgumentsToRepeat(const std::vector<std::string>& arguments) {
  std::vector<std::string> repeated;
  for (const std::string& argument : arguments) {
    if (!IsDecidedByPlan(argument)) repeated.push_back(argument);
  }
  return repeated;
}

std::vector<std::string> GlobalArguments(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const char* flag : {"--trust-config", "--no-env-file"}) {
    const CLI::Option* option = command.get_parent()->get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0) arguments.emplace_back(flag);
  }
  return arguments;
}

}  // namespace upskill
