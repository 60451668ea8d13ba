// SPDX-License-Identifier: Apache-2.0
#include "cli/activation_option.h"

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

namespace upskill {

std::vector<std::string> AddActivationOptions(CLI::App& command, ActivationChoice& choice) {
  BeginGroup(command, "Activation");
  CLI::Option* const on = command.add_flag(
      "--activation", choice.on,
      "Measure whether students find the skill by its description: read it when they should, and leave it otherwise");
  command
      .add_option("--among", choice.among,
                  "Other skill folders to choose from (repeatable) [default: those next to the skill]")
      ->needs(on)
      ->type_name("DIR");
  for (const char* other : {"--placebo", "--against", "--mode", "--load", "--batch", "--gate", "--stop-when-decided"})
    on->excludes(command.get_option(other));
  return {"--activation", "--among"};
}

}  // namespace upskill
