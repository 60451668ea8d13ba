// SPDX-License-Identifier: Apache-2.0
#include "cli/color_option.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace upskill {

void AddColorOption(CLI::App& command, ColorWish& wish) {
  const std::map<std::string, ColorWish> names = {
      {"auto", ColorWish::kAuto}, {"always", ColorWish::kAlways}, {"never", ColorWish::kNever}};
  command.add_option("--color", wish, "auto, always or never (default: auto)")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->type_name("WHEN");
}

}  // namespace upskill
