// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/read/builder.h"

namespace upskill {

// Adds one message of the OpenAI or Anthropic chat APIs, or of a format based on them: roles, contents, tool calls and
// results in any of their forms. Returns whether it was understood.
bool AddChatMessage(TraceBuilder& builder, Json& message, EventContext stamp);

// The usage in a chat response of either API.
TokenUsage ChatUsageOf(const Json& usage);

}  // namespace upskill
