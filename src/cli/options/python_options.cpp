// SPDX-License-Identifier: Apache-2.0
#include "cli/options/python_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace upskill {
namespace {

constexpr std::string_view kJobs =
    "to spread an evaluation over jobs, use `upskill eval SKILL --on ENGINE --shards N` (slurm, kubernetes, hf)";

struct Instead {
  std::string_view option;
  std::string_view instead;
};

constexpr std::array<Instead, 10> kInstead = {{
    {"--provider", "write the provider before the model: -m generic.MODEL; with --base-url it isn't needed"},
    {"--eval-provider",
     "write the provider before the model: --eval-model generic.MODEL; with --eval-base-url it isn't needed"},
    {"--artifact-repo", kJobs},
    {"--wait", kJobs},
    {"--no-wait", kJobs},
    {"--jobs-timeout", kJobs},
    {"--jobs-flavor", kJobs},
    {"--jobs-secrets", kJobs},
    {"--jobs-namespace", kJobs},
    {"--executor", kJobs},
}};

}  // namespace

void AddExecutorOption(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--executor", [](const std::string& /*name*/) {}, "Accepted for the Python tool's sake")
      ->check([](const std::string& name) {
        return name == "local" ? std::string() : "--executor must be local: " + std::string(kJobs);
      })
      ->group("");
}

std::optional<std::string> InsteadOfPythonOption(const std::string& option) {
  const auto* const found =
      std::find_if(kInstead.begin(), kInstead.end(), [&](const Instead& one) { return one.option == option; });
  if (found == kInstead.end()) return std::nullopt;
  return std::string(found->instead);
}

}  // namespace upskill
