// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "model/wire/wire.h"

namespace upskill {

// OpenAI Chat Completions, also used by many other servers.
Json BuildChat(const ChatRequest& request, const WireOptions& options);
Result<ChatResponse> ParseChat(const Json& body);
std::unique_ptr<StreamAssembler> MakeChatAssembler();

}  // namespace upskill
