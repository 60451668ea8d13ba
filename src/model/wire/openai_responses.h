// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "model/wire/wire.h"

namespace upskill {

// OpenAI Responses, without storage by the provider.
Json BuildResponses(const ChatRequest& request, const WireOptions& options);
Result<ChatResponse> ParseResponses(const Json& body);
std::unique_ptr<StreamAssembler> MakeResponsesAssembler();

}  // namespace upskill
