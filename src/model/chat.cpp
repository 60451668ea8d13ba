// SPDX-License-Identifier: Apache-2.0
#include "model/chat.h"

#include <fmt/format.h>

#include <algorithm>

namespace upskill {

Json UsageToJson(const Usage& usage) {
  return {{"input", usage.input},
          {"cache_read", usage.cache_read},
          {"cache_write", usage.cache_write},
          {"output", usage.output},
          {"reasoning", usage.reasoning}};
}

Usage UsageFromJson(const Json& json) {
  const auto count = [&json](const char* key) {
    return std::clamp<std::int64_t>(JsonGet<std::int64_t>(json, key, 0), 0, kMaxStoredTokens);
  };
  return {count("input"), count("cache_read"), count("cache_write"), count("output"), count("reasoning")};
}

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
