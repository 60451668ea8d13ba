// SPDX-License-Identifier: Apache-2.0
// Message lists of the OpenAI and Anthropic APIs: a list, an object with `messages`, one conversation per line, or a
// log of requests with their responses.
#include <fmt/format.h>

#include <functional>
#include <map>

#include "trace/formats/chat_message.h"
#include "trace/formats/readers.h"
#include "trace/formats/terminal_chat.h"

namespace upskill {
namespace {

class ChatMessagesReader : public RecordReader {
 public:
  explicit ChatMessagesReader(TraceBuilder& builder) : builder_(builder), terminal_(builder) {}

  void Add(Json& record, std::size_t line) override {
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(record, "timestamp");
    if (!record.is_object()) {
      builder_.NoteUnknown("not an object", record, line);
    } else if (Json* const request = FindMember(record, "request"); request != nullptr && request->is_object()) {
      AddConversation(*request, stamp);
      if (Json* const response = FindMember(record, "response"); response != nullptr) AddResponse(*response, stamp);
    } else if (record.contains("messages") || record.contains("conversations")) {
      AddConversation(record, stamp);
    } else if (record.contains("choices") || StringAt(record, "type") == "message") {
      AddResponse(record, stamp);
    } else if (!AddMessage(record, stamp)) {
      builder_.NoteUnknown("role " + StringAt(record, "role"), record, line);
    }
  }

 private:
  bool AddMessage(Json& message, const EventContext& stamp) {
    return terminal_.Add(message, stamp) || AddChatMessage(builder_, message, stamp);
  }

  void AddConversation(Json& record, const EventContext& stamp) {
    builder_.NoteModel(StringAt(record, "model"));
    if (JsonGet(record, "passed_checks", false)) builder_.SetPassedChecks();  // of a run of `eval`
    if (Json* const system = FindMember(record, "system"); system != nullptr) {
      builder_.Add(stamp, EventKind::kSystem, TakeText(*system));
    }
    Json* messages = FindMember(record, "messages");
    if (messages == nullptr) messages = FindMember(record, "conversations");
    if (messages == nullptr || !messages->is_array()) return;
    // Each request in a log repeats the messages of the previous one.
    const bool log = record.contains("model");
    std::map<std::size_t, std::size_t> seen;  // in this record, where a message may recur, such as "continue"
    for (Json& message : *messages) {
      if (log) {
        const std::string dump = DumpJson(message);
        const std::size_t times = ++seen[std::hash<std::string>()(dump)];
        if (!builder_.IsNew(fmt::format("message {} {}", times, dump))) continue;
      }
      EventContext at = stamp;
      if (const auto time = TimeAt(message, "timestamp")) at.time_ms = time;
      if (!AddMessage(message, at)) builder_.NoteUnknown("role " + StringAt(message, "role"), message, at.line);
    }
  }

  void AddResponse(Json& response, EventContext stamp) {
    stamp.message = builder_.Message(StringAt(response, "id"), "", StringAt(response, "model"));
    builder_.RaiseUsage(stamp.message, ChatUsageOf(Member(response, "usage")));
    Json* const choices = FindMember(response, "choices");
    if (choices == nullptr || !choices->is_array()) {
      response["role"] = "assistant";
      AddMessage(response, stamp);
      return;
    }
    for (Json& choice : *choices) {
      Json* const message = FindMember(choice, "message");
      if (message != nullptr && message->is_object()) {
        (*message)["role"] = "assistant";
        AddMessage(*message, stamp);
      }
    }
  }

  TraceBuilder& builder_;
  TerminalChat terminal_;
};

}  // namespace

RecordReaderPtr MakeChatMessagesReader(TraceBuilder& builder) { return std::make_unique<ChatMessagesReader>(builder); }

}  // namespace upskill
