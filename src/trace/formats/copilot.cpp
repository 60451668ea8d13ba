// SPDX-License-Identifier: Apache-2.0
// Copilot CLI events (~/.copilot/session-state/*/events.jsonl).
#include <string_view>

#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// Of a command that ran, the last line of the output tells the exit code: `<shellId: 6 completed with exit code 1>`.
bool EndsWithFailure(std::string_view output) {
  output = Trim(output);
  const std::string_view last = output.substr(output.rfind('\n') + 1);
  constexpr std::string_view kMark = " with exit code ";
  const std::size_t mark = last.find(kMark);
  return mark != std::string_view::npos && last.starts_with('<') && last.ends_with('>') &&
         last.substr(mark + kMark.size()) != "0>";
}

class CopilotReader : public RecordReader {
 public:
  explicit CopilotReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    Json* const data = FindMember(record, "data");
    const std::string type = StringAt(record, "type");
    if (data == nullptr || !data->is_object()) {
      builder_.NoteUnknown(record.is_object() ? type : "not an object", record, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(record, "timestamp");
    builder_.NoteTime(stamp.time_ms);
    stamp.agent = StringAt(*data, "parentToolCallId");
    if (stamp.agent.empty() && type == "user.message") stamp.agent = StringAt(record, "agentId");
    if (!stamp.agent.empty()) builder_.NoteSubagent(stamp.agent, "", stamp.agent);
    if (type == "user.message") {
      // `transformedContent` contains injected context. Messages of the program and of the main agent have a source.
      const bool typed = StringAt(*data, "source").empty() && stamp.agent.empty();
      builder_.Add(stamp, typed ? EventKind::kUser : EventKind::kSystem, TakeString(*data, "content"));
    } else if (type == "assistant.message") {
      AddAssistant(*data, stamp);
    } else if (type == "assistant.reasoning") {
      builder_.Add(stamp, EventKind::kReasoning, TakeString(*data, "content"));
    } else if (type == "tool.execution_start") {
      AddStart(*data, stamp);
    } else if (type == "tool.execution_complete") {
      AddComplete(*data, stamp);
    } else if (type == "subagent.started" || type == "subagent.completed") {
      const std::string call = StringAt(*data, "toolCallId");
      builder_.NoteSubagent(call, StringAt(*data, "agentName"), call);
    } else if (type == "skill.invoked") {
      builder_.NoteSkill(StringAt(*data, "name"), "tool", builder_.trace().events.size());
      builder_.Add(stamp, EventKind::kSystem, TakeString(*data, "content"));
    } else {
      AddSessionEvent(type, *data, stamp);
    }
  }

 private:
  void AddSessionEvent(const std::string& type, Json& data, const EventContext& stamp) {
    if (type == "session.start") {
      builder_.SetSession(StringAt(data, "sessionId"));
      builder_.SetAgentVersion(StringAt(data, "copilotVersion"));
      builder_.SetFolder(StringAt(Member(data, "context"), "cwd"));
      builder_.NoteModel(StringAt(data, "selectedModel"));
    } else if (type == "session.model_change") {
      builder_.NoteModel(StringAt(data, "newModel"));
    } else if (type == "session.error") {
      builder_.Add(stamp, EventKind::kSystem, "error: " + TakeString(data, "message"));
    } else if (type == "session.shutdown") {
      AddTotals(Member(data, "tokenDetails"));
    } else if (type == "session.compaction_complete") {
      builder_.Add(stamp, EventKind::kSummary, TakeString(data, "summaryContent"));
    } else if (type == "abort") {
      builder_.Add(stamp, EventKind::kSystem, "aborted: " + StringAt(data, "reason"));
    } else if (type == "system.message" || type == "system.notification") {
      builder_.Add(stamp, EventKind::kSystem, TakeString(data, "content"));
    } else if (type.rfind("session.", 0) != 0 && type.rfind("hook.", 0) != 0 && type.rfind("assistant.turn_", 0) != 0 &&
               type.rfind("subagent.", 0) != 0 && type.rfind("tool.", 0) != 0 && type.rfind("permission.", 0) != 0) {
      builder_.NoteUnknown(type, data, stamp.line);
    }
  }

  void AddAssistant(Json& data, EventContext stamp) {
    stamp.message = builder_.Message("", stamp.agent, StringAt(data, "model"));
    TokenUsage usage;
    usage.output = NumberAt(data, "outputTokens");
    builder_.SetUsage(stamp.message, usage);
    builder_.Add(stamp, EventKind::kReasoning, TakeString(data, "reasoningText"));
    builder_.Add(stamp, EventKind::kAssistant, TakeString(data, "content"));
    Json* const requests = FindMember(data, "toolRequests");
    if (requests == nullptr || !requests->is_array()) return;
    for (Json& request : *requests) {
      Json* const arguments = FindMember(request, "arguments");
      builder_.AddCall(stamp, StringAt(request, "name"), StringAt(request, "toolCallId"),
                       arguments == nullptr ? Json() : std::move(*arguments));
    }
  }

  // Repeats the request in the message; occurs alone only in damaged files.
  void AddStart(Json& data, const EventContext& stamp) {
    const std::string id = StringAt(data, "toolCallId");
    if (builder_.FindCall(id) != kNoIndex) return;
    Json* const arguments = FindMember(data, "arguments");
    builder_.AddCall(stamp, StringAt(data, "toolName"), id, arguments == nullptr ? Json() : std::move(*arguments));
  }

  void AddComplete(Json& data, const EventContext& stamp) {
    const Json& success = Member(data, "success");
    CallStatus status = CallStatus::kUnknown;
    if (success.is_boolean()) status = success.get<bool>() ? CallStatus::kOk : CallStatus::kError;
    Json* const result = FindMember(data, "result");
    std::string text = result == nullptr ? std::string() : TakeString(*result, "content");
    if (text.empty()) text = StringAt(Member(data, "error"), "message");
    if (status == CallStatus::kOk && EndsWithFailure(text)) status = CallStatus::kError;
    builder_.AddResult(stamp, StringAt(data, "toolCallId"), std::move(text), status);
  }

  void AddTotals(const Json& details) {
    if (!details.is_object()) return;
    TokenUsage usage;
    usage.input = NumberAt(Member(details, "input"), "tokenCount");
    usage.cache_read = NumberAt(Member(details, "cache_read"), "tokenCount");
    usage.cache_write = NumberAt(Member(details, "cache_write"), "tokenCount");
    usage.output = NumberAt(Member(details, "output"), "tokenCount");
    builder_.AddSessionUsage(usage);
  }

  TraceBuilder& builder_;
};

}  // namespace

RecordReaderPtr MakeCopilotReader(TraceBuilder& builder) { return std::make_unique<CopilotReader>(builder); }

}  // namespace upskill
