// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// Whether `name` can be the name of an environment variable: letters, digits and _, no digit first.
bool IsVariableName(std::string_view name);

// The variables that a text names as ${NAME}, each once, in order. Error (kInput): "${" without a name and "}".
Result<std::vector<std::string>> VariablesIn(std::string_view text);

// `text` with the values of its variables. Values are not searched for further variables. Errors (kInput): those of
// VariablesIn; a variable that is not set, by its name.
Result<std::string> WithVariables(std::string_view text,
                                  const std::function<std::optional<std::string>(const std::string& name)>& value_of);

}  // namespace upskill
