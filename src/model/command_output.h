// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/chat.h"
#include "util/result.h"

namespace upskill {

// The answer in what a command printed. The JSON of agent programs is recognized by its form, whatever the command is
// called: Claude Code (`--output-format json` and `stream-json`), Codex (`exec --json`), Gemini CLI (`--output-format
// json`), OpenCode (`run --format json`) and Pi (`--mode json`); usage and cost are taken from it. Everything else is
// the answer itself, JSON of any other form included. Error (kUnavailable): the program reports that it failed, or
// there is no answer.
Result<ChatResponse> ReadCommandOutput(std::string_view output);

}  // namespace upskill
