// SPDX-License-Identifier: Apache-2.0
#include "cli/parallel_option.h"

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

namespace upskill {

void AddParallelOption(CLI::App& command, int& parallel, const std::string& names, const std::string& of) {
  constexpr int kMaxParallel = 4096;
  command.add_option(names, parallel, "Maximum concurrent requests per " + of)
      ->check(WholeNumber(1, kMaxParallel))
      ->default_str("64 over the network, 32 in process, 4 for programs")
      ->type_name("N");
}

}  // namespace upskill
