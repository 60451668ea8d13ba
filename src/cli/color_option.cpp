// SPDX-License-Identifier: Apache-2.0
#include "cli/color_option.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace upskill {

void AddColorOption(CLI::App& command, ColorMode& mode) {
  const std::map<std::string, ColorMode> names = {
      {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
  command.add_option("--color", mode, "auto, always or never (default: auto)")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->type_name("WHEN");
}

}  // namespace upskill
