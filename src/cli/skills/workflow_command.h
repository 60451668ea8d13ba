// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace upskill {

// A line that GitHub Actions shows as an annotation. `command`: error, warning or notice. `line`, `column`: from 1; 0:
// at no place.
std::string WorkflowCommand(std::string_view command, std::string_view file, std::size_t line, std::size_t column,
                            std::string_view message);

}  // namespace upskill
