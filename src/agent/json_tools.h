// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/chat.h"
#include "model/model.h"

namespace upskill {

// The request with its tools described in the system prompt, earlier calls and results as texts, and an answer_schema:
// a call of one of the tools, or the answer.
ChatRequest WithToolsAsJson(ChatRequest request);

// The answer to such a request, with the call that its text is. A text that isn't complete JSON stays a text.
ChatResponse WithCallFromJson(ChatResponse response);

// Lets a model take tools that has no format of its own for them, but keeps to a schema: in process, a grammar forces
// each answer to be a valid call or the end of the work. Requests without tools are passed on.
std::unique_ptr<Model> MakeJsonToolsModel(std::unique_ptr<Model> model);

}  // namespace upskill
