// SPDX-License-Identifier: Apache-2.0
#include "model/chat.h"

#include <fmt/format.h>

namespace upskill {

const char* StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd:
      return "end";
    case StopReason::kLength:
      return "length";
    case StopReason::kRefusal:
      return "refusal";
    case StopReason::kToolUse:
      return "tool_use";
    case StopReason::kContext:
      return "context";
  }
  return "end";
}

Result<StopReason> StopReasonFromName(std::string_view name) {
  for (const StopReason reason :
       {StopReason::kEnd, StopReason::kLength, StopReason::kRefusal, StopReason::kToolUse, StopReason::kContext}) {
    if (name == StopReasonName(reason)) return reason;
  }
  return InputError(fmt::format("unknown stop reason '{}'", name));
}

}  // namespace upskill
