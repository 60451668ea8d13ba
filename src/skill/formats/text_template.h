// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Replaces `{{name}}` and `{{name.key}}` by the variables' values, as promptfoo does; templates in the values, too.
// Errors (kInput): a variable that isn't given, a filter, a statement ({% … %}) or another expression of Nunjucks, more
// than 5 levels of values in values, a result of more than 1 MiB.
Result<std::string> RenderTemplate(std::string_view text, const Json& variables);

// The same for each string in a value.
Result<Json> RenderStrings(const Json& value, const Json& variables);

}  // namespace upskill
