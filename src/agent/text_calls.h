// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/chat.h"

namespace upskill {

// The calls of `tools` that a model has written as text, as small models do, and servers that don't parse calls pass
// on: JSON objects with a name and arguments at the start of a line, bare, in a fenced block, in <tool_call>, <tools>
// or the like, also with doubled braces and raw line ends in strings. They are taken out of `text`, which keeps what is
// before the first one. A call that begins as one but isn't JSON has no arguments, so that the model is told. A call of
// a tool that isn't offered is returned as well. An answer that goes on after its last call only shows how tools are
// called: it has no calls.
std::vector<ToolCall> TakeCallsFromText(const std::vector<Tool>& tools, std::string& text);

// Whether a text without such calls has something that may be meant as one.
bool LooksLikeCall(const std::vector<Tool>& tools, std::string_view text);

}  // namespace upskill
