// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "model/chat.h"

namespace upskill {

// The calls of `tools` that a model has written as text, as small models do, and servers that don't parse calls pass
// on: JSON objects with a name and arguments at the start of a line, bare, in a fenced block, in <tool_call>, <tools>
// or the like, also with doubled braces and raw line ends in strings. They are taken out of `text`, which keeps what is
// before the first one. A call that begins as one but isn't JSON has no arguments, so that the model is told. Text that
// only mentions JSON has no calls.
std::vector<ToolCall> TakeCallsFromText(const std::vector<Tool>& tools, std::string& text);

}  // namespace upskill
