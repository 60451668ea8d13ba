// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace upskill {

// Checks of option values that say what is expected: for CLI::Option::check. They add nothing to an option's help.
CLI::Validator WholeNumber(std::int64_t min, std::int64_t max);
CLI::Validator WholeNumber(std::int64_t min);
CLI::Validator Number(double min, double max);
CLI::Validator Number(double min);
CLI::Validator PositiveNumber();

// For CLI::Option::transform: one of these names in upper or lower case, made one of these names.
// `former`: older names, which are replaced by the present ones.
CLI::Validator OneOf(std::vector<std::string> names, std::map<std::string, std::string> former = {});

// The names of an option's OneOf; empty: it accepts something else.
std::vector<std::string> NamesAcceptedBy(const CLI::Option& option);

// For CLI::Option::transform: "90", "90s", "10m" or "2h", made a number of seconds.
CLI::Validator Duration();

// For CLI::Option::transform: "40%", "40" or "0.4", made the fraction 0.4. A plain 1 could be either and is refused.
CLI::Validator Rate();

// Options declared from here on belong to this group of the help.
void BeginGroup(CLI::App& command, const char* name);

// --color auto|always|never
void AddColorOption(CLI::App& command, ColorMode& mode);

}  // namespace upskill
