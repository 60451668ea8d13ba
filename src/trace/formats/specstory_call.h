// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"
#include "util/json.h"

namespace upskill {

// A tool call in a Markdown export of SpecStory.
struct SpecStoryCall {
  std::string tool;
  Json arguments;                     // as far as the export shows them, under the names that Claude Code uses
  std::optional<std::string> result;  // nothing if the export has none
  CallStatus status = CallStatus::kUnknown;
};

// `text`: from "<tool-use" to what precedes "</tool-use>". `tells_failures`: the agent writes "Exit code N" into the
// output of a command that failed, so that other commands succeeded.
SpecStoryCall ReadSpecStoryCall(std::string_view text, bool tells_failures);

}  // namespace upskill
