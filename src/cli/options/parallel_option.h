// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace upskill {

// Declares -j, with the names that the command has for it. `of`: what the number is a limit for. 0: the default.
void AddParallelOption(CLI::App& command, int& parallel, const std::string& names = "-j,--jobs",
                       const std::string& of = "model");

}  // namespace upskill
