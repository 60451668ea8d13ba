// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "model/wire/wire.h"

namespace upskill {

// Anthropic Messages. A reasoning effort becomes adaptive thinking; for the models that the catalogue lists under
// budget_models, it becomes a token budget on top of max_tokens.
Json BuildAnthropic(const ChatRequest& request, const WireOptions& options);
Result<ChatResponse> ParseAnthropic(const Json& body);
std::unique_ptr<StreamAssembler> MakeAnthropicAssembler();

// OpenAI Chat Completions, also used by many other servers.
Json BuildChat(const ChatRequest& request, const WireOptions& options);
Result<ChatResponse> ParseChat(const Json& body);
std::unique_ptr<StreamAssembler> MakeChatAssembler();

// OpenAI Responses, without storage by the provider.
Json BuildResponses(const ChatRequest& request, const WireOptions& options);
Result<ChatResponse> ParseResponses(const Json& body);
std::unique_ptr<StreamAssembler> MakeResponsesAssembler();

}  // namespace upskill
