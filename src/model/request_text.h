// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/chat.h"

namespace upskill {

// A request as one text for a reader without chat roles (a command, a person): the system prompt, then the message; if
// there are several, each under a heading that says whose it is. The answer's schema, if any, is described at the end.
std::string RequestText(ChatRequest request);

}  // namespace upskill
