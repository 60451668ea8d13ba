// SPDX-License-Identifier: Apache-2.0
// Claude Code session files (~/.claude/projects) and the print mode of `claude -p --output-format json|stream-json`.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "trace/formats/claude_queue.h"
#include "trace/formats/claude_text.h"
#include "trace/formats/readers.h"
#include "trace/read/record_parser.h"
#include "util/text.h"

namespace upskill {
namespace {

TokenUsage ClaudeUsage(const Json& usage) {
  TokenUsage tokens;
  tokens.input = NumberAt(usage, "input_tokens");
  tokens.cache_read = NumberAt(usage, "cache_read_input_tokens");
  tokens.cache_write = NumberAt(usage, "cache_creation_input_tokens");
  tokens.output = NumberAt(usage, "output_tokens");
  return tokens;
}

CallStatus StatusOf(bool is_error, std::string_view text) {
  if (text.starts_with("The user doesn't want to proceed") ||
      text.starts_with("The user doesn't want to take this action") || text.starts_with("User rejected") ||
      text.starts_with("Permission to use")) {
    return is_error ? CallStatus::kRejected : CallStatus::kOk;
  }
  if (is_error && text.starts_with("[Request interrupted by user")) return CallStatus::kCancelled;
  return is_error ? CallStatus::kError : CallStatus::kOk;
}

// Size in bytes of the record's first text; cheap, and in practice differs if two contents differ.
std::size_t ContentSize(const Json& record) {
  const Json* content = &Member(Member(record, "message"), "content");
  if (content->is_array() && !content->empty()) content = &(*content)[0];
  for (const char* key : {"text", "content", "thinking", "id"}) {
    if (const Json& part = Member(*content, key); part.is_string())
      return part.get_ref<const std::string&>().size() + 1;
  }
  return content->is_string() ? content->get_ref<const std::string&>().size() + 1 : content->size();
}

class ClaudeCodeReader : public RecordReader {
 public:
  explicit ClaudeCodeReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    if (!record.is_object()) {
      builder_.NoteUnknown("not an object", record, line);
      return;
    }
    NoteSession(record);
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(record, "timestamp");
    builder_.NoteTime(stamp.time_ms);
    const std::string type = StringAt(record, "type");
    const std::string parent_call = StringAt(record, "parent_tool_use_id");  // print mode: subagents
    if (!parent_call.empty()) {
      stamp.agent = parent_call;
      builder_.NoteSubagent(parent_call, "", parent_call);
    } else if (Member(record, "isSidechain") == true) {
      stamp.agent = StringAt(record, "agentId");
      if (stamp.agent.empty()) stamp.agent = "sidechain";
      builder_.NoteSubagent(stamp.agent, "", "");
    }
    // A resumed session repeats the lines of the old one under the same uuid. Damaged files have the same uuid on
    // different lines, so the size of the content is compared too.
    const std::string uuid = StringAt(record, "uuid");
    if (!uuid.empty() && !builder_.IsNew(fmt::format("line {} {} {}", uuid, type, ContentSize(record)))) {
      ++duplicates_;
      return;
    }
    AddTyped(type, record, stamp);
  }

  void Finish() override {
    DropPendingCommand();
    AddQueued(queue_.TakeAll());
    NameSubagents();
    builder_.PromoteOnlyAgent();
    if (duplicates_ > 0)
      builder_.NoteCaveat(
          fmt::format("{} {} skipped", Counted(duplicates_, "repeated line"), duplicates_ == 1 ? "was" : "were"));
  }

 private:
  void AddTyped(const std::string& type, Json& record, const EventContext& stamp) {
    if (type == "assistant") {
      AddAssistant(record, stamp);
    } else if (type == "user") {
      AddUser(record, stamp);
    } else if (type == "system") {
      AddSystem(record, stamp);
    } else if (type == "summary") {
      builder_.SetTitle(StringAt(record, "summary"));
      builder_.Add(stamp, EventKind::kSummary, TakeString(record, "summary"));
    } else if (type == "progress") {
      AddProgress(record, stamp);
    } else if (type == "queue-operation") {
      queue_.Note(StringAt(record, "operation"), TakeString(record, "content"), stamp);
    } else if (type == "result") {
      AddResultRecord(record, stamp);
    } else if (type == "attachment") {
      AddAttachment(record, stamp);
    } else if (!IsClaudeState(type)) {
      builder_.NoteUnknown(type, record, stamp.line);
    }
  }

  void NoteSession(const Json& record) {
    const Trace& trace = builder_.trace();
    if (trace.session_id.empty()) builder_.SetSession(StringAt(record, "sessionId"));
    if (trace.session_id.empty()) builder_.SetSession(StringAt(record, "session_id"));
    if (trace.cwd.empty()) builder_.SetFolder(StringAt(record, "cwd"));
    builder_.SetAgentVersion(StringAt(record, "version"));
  }

  void AddAssistant(Json& record, EventContext stamp) {
    DropPendingCommand();
    if (stamp.agent.empty()) AddQueued(queue_.TakeRemoved());
    Json* const message = FindMember(record, "message");
    if (message == nullptr || !message->is_object()) {
      builder_.NoteUnknown("assistant without message", record, stamp.line);
      return;
    }
    // Notices of the program, such as API errors, have the form of an answer.
    const std::string model = StringAt(*message, "model");
    const bool notice = model == "<synthetic>" || Member(record, "isApiErrorMessage") == true;
    if (!notice) {
      stamp.message = builder_.Message(StringAt(*message, "id"), stamp.agent, model);
      builder_.RaiseUsage(stamp.message, ClaudeUsage(Member(*message, "usage")));
    }
    Json* const content = FindMember(*message, "content");
    if (content == nullptr) return;
    if (content->is_string()) {
      builder_.Add(stamp, notice ? EventKind::kSystem : EventKind::kAssistant, TakeText(*content));
      return;
    }
    const std::string id = stamp.agent + '\n' + StringAt(*message, "id") + '\n';
    const std::size_t first = builder_.trace().events.size();
    for (Json& block : *content) AddAssistantBlock(block, id, stamp);
    if (!notice) return;
    for (std::size_t i = first; i < builder_.trace().events.size(); ++i) {
      if (builder_.trace().events[i].kind == EventKind::kAssistant) builder_.MarkAsSystem(i);
    }
  }

  void AddAssistantBlock(Json& block, const std::string& message_id, const EventContext& stamp) {
    const std::string type = StringAt(block, "type");
    if (block.is_string()) {
      builder_.Add(stamp, EventKind::kAssistant, TakeText(block));
    } else if (type == "text") {
      std::string text = TakeString(block, "text");
      if (!message_id.empty() && message_id.size() > stamp.agent.size() + 2 && !builder_.IsNew(message_id + text))
        return;
      builder_.Add(stamp, EventKind::kAssistant, std::move(text));
    } else if (type == "thinking") {
      builder_.Add(stamp, EventKind::kReasoning, TakeString(block, "thinking"));
    } else if (type == "tool_use" || type == "server_tool_use") {
      const std::string call_id = StringAt(block, "id");
      if (!call_id.empty() && IsOf(builder_.FindCall(call_id), stamp.agent)) return;
      Json* const input = FindMember(block, "input");
      builder_.AddCall(stamp, TakeString(block, "name"), call_id, input == nullptr ? Json() : std::move(*input));
    } else if (type.find("tool_result") != std::string::npos) {
      AddToolResult(block, stamp);
    } else if (type != "redacted_thinking") {
      builder_.NoteUnknown("block " + type, block, stamp.line);
    }
  }

  bool IsOf(std::size_t call, const std::string& agent) const {
    return call != kNoIndex && builder_.trace().events[call].agent == agent;
  }

  void AddToolResult(Json& block, const EventContext& stamp) {
    const std::string call_id = StringAt(block, "tool_use_id");
    if (!call_id.empty()) {
      const std::size_t call = builder_.FindCall(call_id);
      const bool repeated = IsOf(call, stamp.agent) ? builder_.trace().events[call].partner != kNoIndex
                                                    : !builder_.IsNew("result " + stamp.agent + call_id);
      if (repeated) return;
    }
    const bool is_error = Member(block, "is_error") == true;
    Json* const content = FindMember(block, "content");
    std::string text = content == nullptr ? std::string() : TakeText(*content);
    const CallStatus status = StatusOf(is_error, text);
    const std::size_t index = builder_.AddResult(stamp, call_id, std::move(text), status);
    const Event& event = builder_.trace().events[index];
    if (event.text.find("... [") != std::string::npos && event.text.find("characters truncated") != std::string::npos) {
      builder_.MarkShortened(index);
    }
  }

  void AddUser(Json& record, const EventContext& stamp) {
    const bool meta = Member(record, "isMeta") == true;
    Json* const message = FindMember(record, "message");
    if (message == nullptr || !message->is_object()) {
      builder_.NoteUnknown("user without message", record, stamp.line);
      return;
    }
    const Json& details = Member(record, "toolUseResult");
    if (const std::string agent = StringAt(details, "agentId"); !agent.empty()) builder_.NoteSubagent(agent, "", "");
    Json* const content = FindMember(*message, "content");
    if (content == nullptr) {
      builder_.NoteUnknown("user without content", record, stamp.line);
      return;
    }
    if (Member(record, "isCompactSummary") == true) {
      builder_.Add(stamp, EventKind::kSummary, TakeText(*content));
      return;
    }
    Fork(record);
    std::string text = TakeUserContent(*content, stamp);
    queue_.NoteMessage(text);
    if (!IsFromUser(record)) {
      builder_.Add(stamp, EventKind::kSystem, std::move(text));
    } else if (!text.empty()) {
      AddUserText(std::move(text), meta, stamp);
    }
  }

  // The text, notices last; results of calls become events.
  std::string TakeUserContent(Json& content, const EventContext& stamp) {
    if (!content.is_array()) return TakeText(content);
    std::string text;
    std::string notices;
    for (Json& block : content) {
      if (StringAt(block, "type") == "tool_result") {
        if (StringAt(block, "tool_use_id").empty()) builder_.NoteUnknown("result without id", Json(), stamp.line);
        AddToolResult(block, stamp);
        continue;
      }
      const std::string part = TakeText(block);
      if (part.empty() || part == "[image]") continue;
      std::string& target = StartsWithNotice(part) ? notices : text;
      if (!target.empty()) target += '\n';
      target += part;
    }
    if (!text.empty() && !notices.empty()) text += '\n';
    return text + notices;
  }

  // False for messages of background tasks, other agents and so on.
  static bool IsFromUser(const Json& message) {
    const std::string origin = StringAt(Member(message, "origin"), "kind");
    return origin.empty() || origin == "human";
  }

  void AddAttachment(Json& record, const EventContext& stamp) {
    Json* const attachment = FindMember(record, "attachment");
    if (attachment == nullptr) return;
    const std::string type = StringAt(*attachment, "type");
    Json* const prompt = FindMember(*attachment, "prompt");
    if (prompt == nullptr || type != "queued_command") {
      // The rest are the program's own prompts: lists of tools, agents and skills, reminders.
      if (IsOfProject(type)) builder_.Add(stamp, EventKind::kSystem, DumpJson(*attachment));
      return;
    }
    // What was queued while the agent worked, mostly by the user.
    const std::string mode = StringAt(*attachment, "commandMode");
    const bool typed = mode.empty() || mode == "prompt" || mode == "bash" || attachment->contains("origin");
    std::string text = TakeUserContent(*prompt, stamp);
    if (queue_.WasTaken(text)) return;
    queue_.NoteMessage(text);
    if (!typed || !IsFromUser(*attachment) || Member(*attachment, "isMeta") == true) {
      builder_.Add(stamp, EventKind::kSystem, std::move(text));
    } else {
      AddUserText(mode == "bash" ? "! " + text : std::move(text), false, stamp);
    }
  }

  void AddUserText(std::string text, bool meta, const EventContext& stamp) {
    if (meta) {
      // The body of a prompt command follows it: the command was a request.
      if (pending_command_ != kNoIndex) KeepPendingCommand();
      builder_.Add(stamp, EventKind::kSystem, std::move(text));
      return;
    }
    ClaudeUserText split = SplitClaudeUserText(std::move(text));
    if (split.kind == ClaudeUserText::Kind::kCommandOutput) {
      DropPendingCommand(true);
    } else {
      DropPendingCommand();
    }
    // Inside a subagent the "user" is the main agent.
    const EventKind typed = stamp.agent.empty() ? EventKind::kUser : EventKind::kSystem;
    switch (split.kind) {
      case ClaudeUserText::Kind::kTyped:
        builder_.Add(stamp, EventKind::kSystem, std::move(split.injected));
        builder_.Add(stamp, typed, std::move(split.typed));
        break;
      case ClaudeUserText::Kind::kCommand:
        pending_name_ = split.command;
        pending_arguments_ = split.typed;
        if (!split.typed.empty()) split.command += " " + split.typed;
        pending_command_ = builder_.Add(stamp, typed, std::move(split.command));
        break;
      case ClaudeUserText::Kind::kInjected:
      case ClaudeUserText::Kind::kInterrupt:
      case ClaudeUserText::Kind::kCommandOutput:
        builder_.Add(stamp, EventKind::kSystem, std::move(split.injected));
        break;
    }
  }

  void KeepPendingCommand() {
    if (pending_name_.size() > 1) builder_.NoteSkill(pending_name_.substr(1), "slash command", pending_command_);
    pending_command_ = kNoIndex;
  }

  // A slash command that printed something was carried out by the program itself; one without a body and arguments
  // asked nothing of the model, unlike the words of "/goal Make the tests pass".
  void DropPendingCommand(bool local = false) {
    if (pending_command_ == kNoIndex) return;
    const bool asks = local ? AsksInWords(pending_name_, pending_arguments_)
                            : !pending_arguments_.empty() && !IsSetting(pending_name_);
    if (!asks) builder_.MarkAsSystem(pending_command_);
    pending_command_ = kNoIndex;
  }

  void AddSystem(Json& record, const EventContext& stamp) {
    const std::string subtype = StringAt(record, "subtype");
    if (subtype == "init") {
      builder_.NoteModel(StringAt(record, "model"));
      return;
    }
    std::string text = TakeString(record, "content");
    // In newer versions, a command that the program carries out is no user's message.
    const ClaudeUserText split = subtype == "local_command" ? SplitClaudeUserText(text) : ClaudeUserText{};
    if (split.kind == ClaudeUserText::Kind::kCommand && AsksInWords(split.command, split.typed)) {
      builder_.Add(stamp, EventKind::kUser, split.command + " " + split.typed);
    } else {
      builder_.Add(stamp, EventKind::kSystem, std::move(text));
    }
  }

  void AddProgress(Json& record, const EventContext& outer) {
    Json* const data = FindMember(record, "data");
    if (data == nullptr || StringAt(*data, "type") != "agent_progress") return;  // hooks, output so far
    Json* const inner = FindMember(*data, "message");
    if (inner == nullptr || !inner->is_object()) return;
    EventContext stamp = outer;
    stamp.agent = StringAt(*data, "agentId");
    if (stamp.agent.empty()) stamp.agent = StringAt(record, "parentToolUseID");
    if (stamp.agent.empty()) stamp.agent = "agent";
    if (const auto time = TimeAt(*inner, "timestamp")) stamp.time_ms = time;
    builder_.NoteSubagent(stamp.agent, "", StringAt(record, "parentToolUseID"));
    const std::string uuid = StringAt(*inner, "uuid");
    if (!uuid.empty() && !builder_.IsNew("line " + uuid + StringAt(*inner, "type"))) return;
    builder_.NoteCaveat("subagent token counts were recorded while the subagents were running and are not totals");
    if (StringAt(*inner, "type") == "assistant") AddAssistant(*inner, stamp);
    if (StringAt(*inner, "type") == "user") AddUser(*inner, stamp);
  }

  void AddQueued(std::vector<ClaudeQueue::Message> messages) {
    for (auto& [stamp, text, removed, dequeued] : messages) {
      const std::size_t space = text.find(' ');
      if (text.starts_with('/') && !AsksInWords(text.substr(0, space), space < text.size() ? text.substr(space) : ""))
        continue;
      ClaudeUserText split = SplitClaudeUserText(std::move(text));
      if (split.kind == ClaudeUserText::Kind::kTyped) builder_.Add(stamp, EventKind::kUser, std::move(split.typed));
    }
  }

  // Two prompts after the same line: the conversation was rewound, and what followed the first was abandoned.
  void Fork(const Json& record) {
    if (Member(record, "isSidechain") == true || !Member(record, "toolUseResult").is_null()) return;
    const std::string parent = StringAt(record, "parentUuid");
    const Json& content = Member(Member(record, "message"), "content");
    if (parent.empty() || Member(record, "isMeta") == true || !content.is_string()) return;
    const std::size_t next = builder_.trace().events.size();
    const auto [known, added] = prompts_.try_emplace(parent, next);
    if (added) return;
    builder_.MarkAbandoned(known->second, next);
    known->second = next;
  }

  void NameSubagents() {
    const Trace& trace = builder_.trace();
    for (std::size_t i = 0; i < trace.subagents.size(); ++i) {
      const std::string& call_id = trace.subagents[i].call_id;
      const std::size_t call = call_id.empty() ? kNoIndex : builder_.FindCall(call_id);
      if (call == kNoIndex) continue;
      const ParsedRecord arguments = ParseRecord(trace.events[call].text);
      if (arguments.value) builder_.NameSubagent(i, StringAt(*arguments.value, "subagent_type"));
    }
  }

  void AddResultRecord(Json& record, EventContext stamp) {
    // With `--output-format json` it is all there is.
    if (builder_.trace().messages.empty() && Member(record, "result").is_string()) {
      const Json& models = Member(record, "modelUsage");
      stamp.message = builder_.Message("", "", models.empty() ? "" : models.items().begin().key());
      builder_.Add(stamp, EventKind::kAssistant, TakeString(record, "result"));
    }
    // The messages of print mode have the tokens of their beginning only.
    if (const Json& models = Member(record, "modelUsage"); models.is_object() && !models.empty()) {
      TokenUsage all;
      for (const Json& model : models) {
        TokenUsage tokens;
        tokens.input = NumberAt(model, "inputTokens");
        tokens.cache_read = NumberAt(model, "cacheReadInputTokens");
        tokens.cache_write = NumberAt(model, "cacheCreationInputTokens");
        tokens.output = NumberAt(model, "outputTokens");
        all.Add(tokens);
      }
      builder_.SetSessionUsage(all);
    }
    builder_.SetCost(Member(record, "total_cost_usd"));
    if (const Json& is_error = Member(record, "is_error"); is_error.is_boolean())
      builder_.SetSucceeded(!is_error.get<bool>());
  }

  TraceBuilder& builder_;
  std::size_t pending_command_ = kNoIndex;  // event of a slash command whose kind the next record shows
  std::string pending_name_;
  std::string pending_arguments_;
  ClaudeQueue queue_;
  std::map<std::string, std::size_t> prompts_;  // parent uuid → first event after it
  std::size_t duplicates_ = 0;
};

}  // namespace

RecordReaderPtr MakeClaudeCodeReader(TraceBuilder& builder) { return std::make_unique<ClaudeCodeReader>(builder); }

}  // namespace upskill
