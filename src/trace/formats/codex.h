// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/read/record.h"
#include "trace/trace.h"

namespace upskill {

// Output of a Codex tool in any of its forms (text, JSON in a text, block, list of blocks), and how the call ended.
struct CodexOutput {
  std::string text;
  CallStatus status = CallStatus::kUnknown;
};
CodexOutput TakeCodexOutput(Json& output);

// How a call ended: of an item of a turn, or of the interface's event about its end.
CallStatus StatusOfCodexItem(const Json& item);

// Changes of files, {PATH: {type, content or unified_diff}}, in the form that the tool apply_patch takes.
std::string PatchOfChanges(const Json& changes);

// The commands and patches that a script ("code mode") gives its tools as literals, in their order.
struct ScriptedCall {
  std::string tool;
  Json arguments;
};
std::vector<ScriptedCall> CallsInScript(std::string_view script);

// The user's words in a Codex user message: empty for injected context; the text after "## My request for Codex:" if an
// IDE put its context before it.
std::string_view CodexRequest(std::string_view text);

}  // namespace upskill
