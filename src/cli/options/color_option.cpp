// SPDX-License-Identifier: Apache-2.0
#include "cli/options/color_option.h"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options/option_checks.h"

namespace upskill {

void AddColorOption(CLI::App& command, ColorMode& mode) {
  const auto take = [&mode](const std::string& when) {
    mode = when == "always" ? ColorMode::kAlways : when == "never" ? ColorMode::kNever : ColorMode::kAuto;
  };
  command.add_option_function<std::string>("--color", take, "Use colours: auto, always or never")
      ->transform(OneOf({"auto", "always", "never"}))
      ->default_str("auto")
      ->type_name("WHEN");
}

}  // namespace upskill
