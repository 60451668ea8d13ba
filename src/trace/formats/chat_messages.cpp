// SPDX-License-Identifier: Apache-2.0
// Message lists of the OpenAI and Anthropic APIs: a list, an object with `messages`, one conversation per line, or a
// log of requests with their responses.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trace/formats/chat_message.h"
#include "trace/formats/readers.h"
#include "trace/read/builder.h"
#include "trace/read/record_parser.h"
#include "util/text.h"

namespace upskill {
namespace {

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

// The object with keystrokes in an answer, and what was said before it.
struct Answer {
  Json object;
  std::string_view before;
};

Answer AnswerIn(std::string_view text) {
  const std::size_t keystrokes = text.find("\"keystrokes\"");
  const std::size_t end = text.rfind('}');
  if (keystrokes == std::string_view::npos || end == std::string_view::npos || end < keystrokes) return {};
  // Reasoning before it may have braces, too.
  for (const std::size_t begin : {text.find('{'), text.rfind("\n{", keystrokes)}) {
    if (begin == std::string_view::npos || begin > keystrokes) continue;
    ParsedRecord parsed = ParseRecord(Trim(text.substr(begin, end + 1 - begin)));
    if (!parsed.value || !parsed.value->is_object()) continue;
    std::string_view before = Trim(text.substr(0, begin));
    if (const std::size_t fence = before.rfind("```"); fence != std::string_view::npos)
      before = before.substr(0, fence);
    return {std::move(*parsed.value), Trim(before)};
  }
  return {};
}

// Where the screen begins in a message; npos if it shows none.
std::size_t ScreenIn(std::string_view text) {
  const std::string lower = ToLowerAscii(text);
  std::size_t first = std::string::npos;
  for (const std::string_view mark : {"new terminal output:", "current terminal state:", "current terminal screen:",
                                      "the current terminal state is:", "here is the current state of the terminal:"}) {
    const std::size_t found = lower.find(mark);
    if (found != std::string::npos && (found == 0 || lower[found - 1] == '\n')) first = std::min(first, found);
  }
  return first;
}

// The text of a message that has nothing but text; empty otherwise.
std::string OnlyText(const Json& content) {
  const auto is_text = [](const Json& block) { return StringAt(block, "type") == "text"; };
  if (!content.is_string() && !(content.is_array() && std::all_of(content.begin(), content.end(), is_text))) return "";
  Json copy = content;
  return TakeText(copy);
}

bool TerminalChat::Add(Json& message, EventContext stamp) {
  const std::string role = StringAt(message, message.contains("role") ? "role" : "from");
  Json* const content = FindMember(message, message.contains("content") ? "content" : "value");
  if (content == nullptr || message.contains("tool_calls")) return false;
  const bool assistant = role == "assistant" || role == "gpt";
  if (!assistant && role != "user" && role != "human") return false;
  const std::string text = OnlyText(*content);
  return assistant ? AddAnswer(text, StringAt(message, "model"), std::move(stamp)) : AddScreen(text, stamp);
}

bool TerminalChat::AddAnswer(const std::string& text, const std::string& model, EventContext stamp) {
  const Answer answer = AnswerIn(text);
  if (answer.object.is_null()) return false;
  typed_ = true;
  unanswered_ = 0;
  if (stamp.message == kNoIndex) stamp.message = builder_.Message("", stamp.agent, model);
  std::string said(answer.before);
  for (const char* key : {"state_analysis", "analysis", "explanation", "plan"}) {
    const std::string part = StringAt(answer.object, key);
    if (!part.empty()) said += (said.empty() ? "" : "\n") + part;
  }
  builder_.Add(stamp, EventKind::kAssistant, std::move(said));
  const auto type = [&](const Json& command) {
    const std::string keys = StringAt(command, "keystrokes");
    if (Trim(keys).empty()) return;  // it only waits
    builder_.AddCall(stamp, "terminal", "", Json::object({{"keystrokes", keys}}));
    ++unanswered_;
  };
  type(answer.object);
  if (const Json& commands = Member(answer.object, "commands"); commands.is_array())
    std::for_each(commands.begin(), commands.end(), type);
  return true;
}

bool TerminalChat::AddScreen(const std::string& text, const EventContext& stamp) {
  const std::size_t screen = std::min(ScreenIn(text), text.size());
  const std::string before(Trim(std::string_view(text).substr(0, screen)));
  const bool complaint = typed_ && before.starts_with("Previous ");
  if (screen == text.size() && !(complaint && before.starts_with("Previous response had "))) return false;
  // The screen shows all commands that were typed together, the last one at its end.
  for (; unanswered_ > 1; --unanswered_) builder_.AddResult(stamp, "", "", CallStatus::kUnknown);
  if (std::exchange(unanswered_, 0) > 0) {
    builder_.AddResult(stamp, "", text.substr(screen), CallStatus::kUnknown);
  } else {
    builder_.Add(stamp, EventKind::kSystem, text.substr(screen));
  }
  // The first message is the task, after what the agent is told about its answers.
  constexpr std::string_view kTask = "\nTask Description:";
  const std::size_t task = typed_ ? std::string::npos : before.find(kTask);
  const std::size_t begin = task == std::string::npos ? 0 : task + kTask.size();
  if (begin > 0) builder_.Add(stamp, EventKind::kSystem, before.substr(0, task));
  builder_.Add(stamp, complaint ? EventKind::kSystem : EventKind::kUser, std::string(Trim(before.substr(begin))));
  return true;
}

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
