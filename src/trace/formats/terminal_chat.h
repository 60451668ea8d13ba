// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "trace/read/builder.h"

namespace upskill {

// Chats of agents that only type into a terminal (Terminus of terminal-bench): the model answers with JSON that has
// keystrokes, and the next message of the "user" shows the screen. Not thread-safe.
class TerminalChat {
 public:
  explicit TerminalChat(TraceBuilder& builder) : builder_(builder) {}

  // Adds the message if it is one of such a chat; returns whether it was.
  bool Add(Json& message, EventContext stamp);

 private:
  bool AddAnswer(const std::string& text, const std::string& model, EventContext stamp);
  bool AddScreen(const std::string& text, const EventContext& stamp);

  TraceBuilder& builder_;
  std::size_t unanswered_ = 0;  // calls whose screen follows
  bool typed_ = false;
};

}  // namespace upskill
