// SPDX-License-Identifier: Apache-2.0
// OpenCode: `opencode export` and streams of events, in which each part is sent again whenever it changes.
#include <algorithm>
#include <map>
#include <vector>

#include "trace/formats/readers.h"

namespace upskill {
namespace {

class OpenCodeReader : public RecordReader {
 public:
  explicit OpenCodeReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    Json* event = FindMember(record, "event");  // some recorders wrap the event
    if (event == nullptr) event = &record;
    if (Json* const messages = FindMember(record, "messages"); messages != nullptr && messages->is_array()) {
      AddExport(record, *messages);
      return;
    }
    if (record.contains("info") && record.contains("parts")) {
      AddExported(record, line);
      return;
    }
    Json* const properties = FindMember(*event, "properties");
    const std::string type = StringAt(*event, "type");
    if (record.contains("sessionID") && properties == nullptr) {
      AddPrinted(record, line);
    } else if (properties == nullptr) {
      builder_.NoteUnknown(record.is_object() ? type : "not an object", record, line);
    } else if (type == "message.updated") {
      if (Json* const info = FindMember(*properties, "info"); info != nullptr) KeepInfo(std::move(*info), line);
    } else if (type == "message.part.updated") {
      if (Json* const part = FindMember(*properties, "part"); part != nullptr) KeepPart(std::move(*part), line);
    } else if (type == "message.removed") {
      removed_[StringAt(*properties, "messageID")] = true;
    } else if (type == "message.part.removed") {
      removed_[StringAt(*properties, "partID")] = true;
    } else if (type == "session.created" || type == "session.updated") {
      NoteSession(Member(*properties, "info"));
    } else if (type == "session.error") {
      EventContext stamp;
      stamp.line = line;
      builder_.Add(stamp, EventKind::kSystem, "error: " + ErrorText(Member(*properties, "error")));
    } else if (type.rfind("session.", 0) != 0 && type.rfind("permission.", 0) != 0 && type.rfind("server.", 0) != 0 &&
               type.rfind("todo.", 0) != 0 && type.rfind("file.", 0) != 0 && type.rfind("lsp.", 0) != 0 &&
               type != "message.part.delta" && type != "storage.write") {
      builder_.NoteUnknown(type, record, line);
    }
  }

  void Finish() override {
    for (MessageState& message : messages_) {
      if (removed_.count(message.id) == 0) AddMessage(message);
    }
    if (first_reverted_ != kNoIndex) builder_.MarkAbandoned(first_reverted_, builder_.trace().events.size());
  }

 private:
  struct PartState {
    Json part;
    std::size_t line = 0;
  };
  struct MessageState {
    std::string id;
    Json info;
    std::size_t line = 0;
    std::vector<PartState> parts;
    std::map<std::string, std::size_t> part_ids;
  };

  void NoteSession(const Json& info) {
    const std::string id = StringAt(info, "id");
    if (!StringAt(info, "parentID").empty()) {
      builder_.NoteSubagent(id, StringAt(info, "title"), "");
      return;
    }
    if (builder_.trace().session_id.empty()) builder_.SetSession(id);
    if (builder_.trace().session_id != id) return;
    revert_ = Member(info, "revert");
    builder_.SetTitle(StringAt(info, "title"));
    builder_.SetFolder(StringAt(info, "directory"));
    builder_.SetAgentVersion(StringAt(info, "version"));
  }

  // A line of `opencode run --format json`: a part of an answer, without the message.
  void AddPrinted(Json& record, std::size_t line) {
    Json* const part = FindMember(record, "part");
    const std::string last = messages_.empty() ? "" : messages_.back().id;
    MessageState& state = StateOf(part == nullptr ? last : StringAt(*part, "messageID"));
    if (state.info.is_null()) {
      state.line = line;
      state.info = {{"role", "assistant"},
                    {"sessionID", StringAt(record, "sessionID")},
                    {"time", {{"created", Member(record, "timestamp")}}}};
    }
    if (part == nullptr) {
      state.info["error"] = Member(record, "error");
      return;
    }
    if (StringAt(*part, "type") == "step-finish") {
      state.info["tokens"] = Member(*part, "tokens");
      state.info["cost"] = Member(*part, "cost");
    }
    KeepPart(std::move(*part), line);
  }

  void AddExport(Json& record, Json& messages) {
    NoteSession(Member(record, "info"));
    for (Json& message : messages) AddExported(message, 0);
  }

  // A message of an export is there once, and whole. Ids may recur: programs that hide secrets replace them.
  void AddExported(Json& message, std::size_t line) {
    Json* const info = FindMember(message, "info");
    if (info == nullptr || !info->is_object()) {
      builder_.NoteUnknown("message without info", message, line);
      return;
    }
    MessageState& state = messages_.emplace_back();
    state.id = StringAt(*info, "id");
    state.line = line;
    state.info = std::move(*info);
    Json* const parts = FindMember(message, "parts");
    if (parts == nullptr || !parts->is_array()) return;
    for (Json& part : *parts) state.parts.push_back({std::move(part), line});
  }

  // A part may come before its message.
  MessageState& StateOf(const std::string& id) {
    const auto [known, added] = message_ids_.try_emplace(id, messages_.size());
    if (added) {
      messages_.emplace_back();
      messages_.back().id = id;
    }
    return messages_[known->second];
  }

  void KeepInfo(Json info, std::size_t line) {
    if (!info.is_object()) {
      builder_.NoteUnknown("message that is not an object", info, line);
      return;
    }
    MessageState& state = StateOf(StringAt(info, "id"));
    if (state.line == 0) state.line = line;
    state.info = std::move(info);
  }

  void KeepPart(Json part, std::size_t line) {
    if (!part.is_object()) {
      builder_.NoteUnknown("part that is not an object", part, line);
      return;
    }
    MessageState& state = StateOf(StringAt(part, "messageID"));
    const auto [known, added] = state.part_ids.try_emplace(StringAt(part, "id"), state.parts.size());
    if (added || StringAt(part, "id").empty()) {
      state.parts.push_back({std::move(part), line});
    } else {
      state.parts[known->second].part = std::move(part);
    }
  }

  static std::string ErrorText(const Json& error) {
    const std::string message = StringAt(Member(error, "data"), "message");
    return StringAt(error, "name") + (message.empty() ? "" : ": " + message);
  }

  TokenUsage OpencodeUsage(const Json& tokens) {
    TokenUsage usage;
    const Json& cache = Member(tokens, "cache");
    usage.input = NumberAt(tokens, "input");
    usage.cache_read = NumberAt(cache, "read");
    usage.cache_write = NumberAt(cache, "write");
    usage.reasoning = NumberAt(tokens, "reasoning");
    if (const auto output = NumberAt(tokens, "output")) usage.output = *output + usage.reasoning.value_or(0);
    if (usage.cache_read.value_or(0) > 0 && usage.input.value_or(0) >= *usage.cache_read) {
      builder_.NoteCaveat("input tokens may include cached ones, depending on the provider");
    }
    return usage;
  }

  void AddMessage(MessageState& state) {
    const Json& info = state.info;
    last_user_ = kNoIndex;
    EventContext stamp;
    stamp.line = state.line;
    stamp.time_ms = TimeAt(Member(info, "time"), "created");
    builder_.NoteTime(stamp.time_ms);
    builder_.NoteTime(TimeAt(Member(info, "time"), "completed"));
    const std::string session = StringAt(info, "sessionID");
    if (builder_.trace().session_id.empty()) builder_.SetSession(session);
    if (!session.empty() && session != builder_.trace().session_id) {
      stamp.agent = session;
      builder_.NoteSubagent(session, "", "");
    }
    const bool assistant = StringAt(info, "role") == "assistant";
    if (assistant) {
      if (builder_.trace().cwd.empty()) builder_.SetFolder(StringAt(Member(info, "path"), "cwd"));
      stamp.message = builder_.Message("", stamp.agent, StringAt(info, "modelID"));
      builder_.SetUsage(stamp.message, OpencodeUsage(Member(info, "tokens")));
      builder_.AddCost(Member(info, "cost"));
    }
    const bool reverted = state.id == StringAt(revert_, "messageID");
    const std::string first_part = StringAt(revert_, "partID");
    if (reverted && first_part.empty()) NoteReverted();
    for (PartState& kept : state.parts) {
      if (reverted && first_part == StringAt(kept.part, "id")) NoteReverted();
      if (removed_.count(StringAt(kept.part, "id")) != 0) continue;
      if (kept.line != 0) stamp.line = kept.line;
      AddPart(kept.part, assistant, stamp);
    }
    if (Member(info, "error").is_object()) {
      builder_.Add(stamp, EventKind::kSystem, "error: " + ErrorText(Member(info, "error")));
    }
  }

  // What was undone begins here.
  void NoteReverted() {
    if (first_reverted_ == kNoIndex) first_reverted_ = builder_.trace().events.size();
  }

  void AddPart(Json& part, bool assistant, const EventContext& stamp) {
    const std::string type = StringAt(part, "type");
    if (type == "text") {
      // Plugins tell the user things in ignored texts.
      const bool injected =
          Member(part, "synthetic") == true || Member(part, "ignored") == true || !stamp.agent.empty();
      const EventKind user = injected ? EventKind::kSystem : EventKind::kUser;
      AddText(part, assistant ? EventKind::kAssistant : user, stamp);
    } else if (type == "reasoning") {
      builder_.Add(stamp, EventKind::kReasoning, TakeString(part, "text"));
    } else if (type == "tool") {
      AddTool(part, stamp);
    } else if (type == "file") {
      builder_.Add(stamp, EventKind::kSystem, "[file] " + StringAt(part, "filename"));
    } else if (type == "patch") {
      const Json& files = Member(part, "files");
      if (!files.is_array()) return;
      for (const Json& file : files) {
        if (file.is_string()) builder_.AddFileChange(stamp, "", file.get<std::string>(), "");
      }
    } else if (type != "step-start" && type != "step-finish" && type != "snapshot" && type != "agent" &&
               type != "subtask" && type != "compaction" && type != "retry") {
      builder_.NoteUnknown("part " + type, part, stamp.line);
    }
  }

  // Typed text in several parts is one turn.
  void AddText(Json& part, EventKind kind, const EventContext& stamp) {
    std::string text = TakeString(part, "text");
    if (kind == EventKind::kUser && last_user_ != kNoIndex) {
      builder_.AppendText(last_user_, "\n" + text);
      return;
    }
    const std::size_t index = builder_.Add(stamp, kind, std::move(text));
    if (kind == EventKind::kUser) last_user_ = index;
  }

  void AddTool(Json& part, const EventContext& stamp) {
    Json* const state = FindMember(part, "state");
    const std::string call_id = StringAt(part, "callID");
    Json empty = Json::object();
    Json& known = state == nullptr ? empty : *state;
    Json* const input = FindMember(known, "input");
    EventContext at = stamp;
    if (const auto start = TimeAt(Member(known, "time"), "start")) at.time_ms = start;
    builder_.AddCall(at, StringAt(part, "tool"), call_id, input == nullptr ? Json() : std::move(*input));
    const std::string child = StringAt(Member(known, "metadata"), "sessionId");
    if (!child.empty()) builder_.NoteSubagent(child, StringAt(part, "tool"), call_id);
    const std::string status = StringAt(known, "status");
    if (status != "completed" && status != "error") return;
    if (const auto end = TimeAt(Member(known, "time"), "end")) at.time_ms = end;
    std::string text = TakeString(known, status == "error" ? "error" : "output");
    const bool rejected = text.find("rejected permission") != std::string::npos;
    const CallStatus failed = rejected ? CallStatus::kRejected : CallStatus::kError;
    // The command ended with an error, or the model called what doesn't exist.
    const bool unsuccessful =
        NumberAt(Member(known, "metadata"), "exit").value_or(0) != 0 || StringAt(part, "tool") == "invalid";
    builder_.AddResult(at, call_id, std::move(text),
                       status == "error" ? failed
                       : unsuccessful    ? CallStatus::kError
                                         : CallStatus::kOk);
  }

  TraceBuilder& builder_;
  std::vector<MessageState> messages_;
  std::map<std::string, std::size_t> message_ids_;
  std::map<std::string, bool> removed_;
  Json revert_;  // {messageID, partID?}: where what the user undid begins
  std::size_t first_reverted_ = kNoIndex;
  std::size_t last_user_ = kNoIndex;  // of the message
};

}  // namespace

RecordReaderPtr MakeOpenCodeReader(TraceBuilder& builder) { return std::make_unique<OpenCodeReader>(builder); }

}  // namespace upskill
