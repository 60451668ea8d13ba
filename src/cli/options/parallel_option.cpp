// SPDX-License-Identifier: Apache-2.0
#include "cli/options/parallel_option.h"

#include <CLI/CLI.hpp>

#include "cli/options/option_row.h"

namespace upskill {

void AddParallelOption(CLI::App& command, int& parallel, const std::string& names, const std::string& of) {
  LikeRow(command.add_option(names, parallel, "Maximum concurrent requests per " + of), *FindEvalOption("--jobs"));
}

}  // namespace upskill
