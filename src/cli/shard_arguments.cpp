// SPDX-License-Identifier: Apache-2.0
#include "cli/shard_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "util/text.h"

namespace upskill {
namespace {

// What the whole run keeps to itself.
constexpr std::array<std::string_view, 19> kOfTheWholeRun = {
    "on",    "shards",     "job-option",   "resume",           "gate",      "json",           "verbose",  "quiet",
    "color", "runs-dir",   "max-cost",     "max-tokens-total", "no-ledger", "test-gen-model", "log-runs", "no-log-runs",
    "help",  "cache-from", "changed-since"};

std::string NameOf(const CLI::Option& option) { return option.get_lnames().empty() ? "" : option.get_lnames().front(); }

std::string_view NameIn(std::string_view argument) {
  if (argument.starts_with("--")) argument.remove_prefix(2);
  return argument.substr(0, argument.find('='));
}

// Whether --resume takes the option from the run's plan.
bool IsDecidedByPlan(const CLI::App& command, std::string_view argument) {
  const std::set<CLI::Option*>& excluded = command.get_option("--resume")->get_excludes();
  return std::any_of(excluded.begin(), excluded.end(),
                     [&](const CLI::Option* option) { return NameOf(*option) == NameIn(argument); });
}

}  // namespace

std::vector<std::string> ShardArguments(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = NameOf(*option);
    if (option->count() == 0 || name.empty()) continue;
    if (std::find(kOfTheWholeRun.begin(), kOfTheWholeRun.end(), name) != kOfTheWholeRun.end()) continue;
    if (option->get_items_expected_max() == 0) {  // a flag
      arguments.push_back("--" + name);
      continue;
    }
    for (const std::string& value : option->results()) arguments.push_back(fmt::format("--{}={}", name, value));
  }
  return arguments;
}

Result<std::vector<std::string>> ConfirmedArguments(const CLI::App& command, const std::vector<std::string>& stored) {
  const std::vector<std::string> given = ShardArguments(command);
  for (const std::string& argument : stored) {
    const bool repeated = std::find(given.begin(), given.end(), argument) != given.end();
    if (repeated || (argument.starts_with("--") && IsDecidedByPlan(command, argument))) continue;
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

std::vector<std::string> ArgumentsToRepeat(const CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> repeated;
  for (const std::string& argument : arguments) {
    if (!IsDecidedByPlan(command, argument)) repeated.push_back(argument);
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
