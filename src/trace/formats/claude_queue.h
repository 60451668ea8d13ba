// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/read/builder.h"

namespace upskill {

// Messages typed while Claude Code works, until a record delivers them. Not thread-safe.
class ClaudeQueue {
 public:
  struct Message {
    EventContext stamp;
    std::string text;
    bool removed = false;      // taken out to be delivered with the next request
    std::size_t dequeued = 0;  // how many messages had been taken out of the queue before
  };

  // A record of type "queue-operation".
  void Note(std::string_view operation, std::string text, const EventContext& stamp);
  // A message of the conversation, which may consist of several queued ones.
  void NoteMessage(std::string_view text);

  // Whether the message was taken before: some versions record it after the answer that it was delivered with.
  bool WasTaken(std::string_view text);

  // What no message delivered, in the order in which it was typed.
  std::vector<Message> TakeRemoved();
  std::vector<Message> TakeAll();

 private:
  std::vector<Message> queue_;
  std::vector<std::string> taken_;  // the last texts of TakeRemoved
  std::size_t dequeued_ = 0;
  std::size_t settled_ = 0;  // the first messages, all of which are removed
};

}  // namespace upskill
