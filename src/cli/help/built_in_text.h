// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// A file of assets/ that is part of the program: "help/checks.txt". It must be listed in CMakeLists.txt.
std::string_view BuiltInText(std::string_view name);

}  // namespace upskill
