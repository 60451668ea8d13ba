// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace upskill {

// The value of an environment variable, or nothing.
using VariableLookup = std::function<std::optional<std::string>(const std::string&)>;

// Where the user's own settings are: ~/.config/upskill, or $XDG_CONFIG_HOME/upskill; empty without either variable.
std::filesystem::path UserConfigFolder(const VariableLookup& variable);

}  // namespace upskill
