// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace upskill {

// The manual page of a command as roff, generated from the same data as its help. The page of the program itself
// has the help topics too.
std::string ManPage(const CLI::App& command);

// The name of the page, and of its file without ".1": "upskill-trace-show".
std::string ManPageName(const CLI::App& command);

}  // namespace upskill
