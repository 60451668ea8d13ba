// SPDX-License-Identifier: Apache-2.0
// The event stream of `codex exec --json`, which has no prompt, no times and no model.
#include <algorithm>

#include "trace/formats/codex.h"
#include "trace/formats/readers.h"

namespace upskill {
namespace {

class CodexExecReader : public RecordReader {
 public:
  explicit CodexExecReader(TraceBuilder& builder) : builder_(builder) {
    builder_.NoteCaveat("this stream doesn't record the prompt, times or model");
  }

  void Add(Json& record, std::size_t line) override {
    EventContext stamp;
    stamp.line = line;
    const std::string type = StringAt(record, "type");
    if (type == "thread.started") {
      builder_.SetSession(StringAt(record, "thread_id"));
    } else if (type == "turn.completed") {
      AddUsage(Member(record, "usage"));
    } else if (type == "turn.failed" || type == "error") {
      std::string message = StringAt(Member(record, "error"), "message");
      if (message.empty()) message = TakeString(record, "message");
      builder_.Add(stamp, EventKind::kSystem, "error: " + message);
      if (type == "turn.failed") builder_.SetSucceeded(false);
    } else if (type == "item.started" || type == "item.updated" || type == "item.completed") {
      Json* const item = FindMember(record, "item");
      if (item != nullptr) AddItem(*item, type == "item.completed", stamp);
    } else if (type != "turn.started") {
      builder_.NoteUnknown(record.is_object() ? type : "not an object", record, line);
    }
  }

 private:
  void AddItem(Json& item, bool completed, EventContext stamp) {
    const std::string type = StringAt(item, "type");
    const std::string id = StringAt(item, "id");
    if (type == "command_execution" || type == "mcp_tool_call" || type == "web_search" || type == "collab_tool_call") {
      if (!id.empty() && builder_.FindCall(id) == kNoIndex) AddCall(type, item, id, stamp);
      if (completed) AddOutput(item, id, stamp);
    } else if (!completed) {
      return;
    } else if (type == "agent_message") {
      stamp.message = builder_.Message(id, "", "");
      builder_.Add(stamp, EventKind::kAssistant, TakeString(item, "text"));
    } else if (type == "reasoning") {
      builder_.Add(stamp, EventKind::kReasoning, TakeString(item, "text"));
    } else if (type == "file_change") {
      const Json& changes = Member(item, "changes");
      if (!changes.is_array()) return;
      for (const Json& change : changes)
        builder_.AddFileChange(stamp, "", StringAt(change, "path"), StringAt(change, "kind"));
    } else if (type == "error") {
      builder_.Add(stamp, EventKind::kSystem, "error: " + TakeString(item, "message"));
    } else if (type != "todo_list") {
      builder_.NoteUnknown("item " + type, item, stamp.line);
    }
  }

  void AddCall(const std::string& type, Json& item, const std::string& id, const EventContext& stamp) {
    if (type == "command_execution") {
      builder_.AddCall(stamp, type, id, Json::object({{"command", TakeString(item, "command")}}));
    } else if (type == "web_search") {
      builder_.AddCall(stamp, type, id, Json::object({{"query", TakeString(item, "query")}}));
    } else {
      Json* const arguments = FindMember(item, "arguments");
      const std::string server = StringAt(item, "server");
      const std::string tool = server.empty() ? StringAt(item, "tool") : server + "__" + StringAt(item, "tool");
      builder_.AddCall(stamp, tool.empty() ? type : tool, id, arguments == nullptr ? Json() : std::move(*arguments));
    }
  }

  void AddOutput(Json& item, const std::string& id, const EventContext& stamp) {
    std::string text = TakeString(item, "aggregated_output");
    CallStatus status = StatusOfCodexItem(item);
    if (Json* const result = FindMember(item, "result"); result != nullptr && text.empty()) text = TakeText(*result);
    if (Json* const error = FindMember(item, "error"); error != nullptr) {
      text += error->is_object() ? StringAt(*error, "message") : TakeText(*error);
      status = CallStatus::kError;
    }
    builder_.AddResult(stamp, id, std::move(text), status);
  }

  // `input_tokens` includes `cached_input_tokens`.
  void AddUsage(const Json& usage) {
    TokenUsage turn;
    turn.cache_read = NumberAt(usage, "cached_input_tokens");
    if (const auto input = NumberAt(usage, "input_tokens")) {
      turn.input = std::max(0LL, *input - turn.cache_read.value_or(0));
    }
    turn.output = NumberAt(usage, "output_tokens");
    builder_.AddSessionUsage(turn);
  }

  TraceBuilder& builder_;
};

}  // namespace

RecordReaderPtr MakeCodexExecReader(TraceBuilder& builder) { return std::make_unique<CodexExecReader>(builder); }

}  // namespace upskill
