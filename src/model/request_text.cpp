// SPDX-License-Identifier: Apache-2.0
#include "model/request_text.h"

#include <fmt/format.h>

#include "model/answer_json.h"
#include "util/text.h"

namespace upskill {

std::string RequestText(ChatRequest request) {
  AddSchemaInstruction(request);
  std::string text;
  if (!Trim(request.system).empty()) text = fmt::format("{}\n\n", Trim(request.system));
  const bool several = request.messages.size() > 1;
  for (const Message& message : request.messages) {
    if (several) text += message.role == Role::kUser ? "# Request\n\n" : "# Your earlier answer\n\n";
    text += fmt::format("{}\n\n", Trim(message.text));
  }
  return std::string(Trim(text)) + "\n";
}

}  // namespace upskill
