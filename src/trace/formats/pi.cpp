// SPDX-License-Identifier: Apache-2.0
// Pi sessions (~/.pi/agent/sessions): a tree of entries; the conversation is the path from the last one to the root.
// And what `pi --mode json` prints, in which each message is told several times.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "trace/formats/readers.h"

namespace upskill {
namespace {

class PiReader : public RecordReader {
 public:
  explicit PiReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(record, "timestamp");
    const std::string type = StringAt(record, "type");
    const std::string id = StringAt(record, "id");
    const std::size_t first = builder_.trace().events.size();
    if (type == "session") {
      builder_.SetSession(id);
      builder_.SetFolder(StringAt(record, "cwd"));
      builder_.NoteModel(StringAt(record, "modelId"));  // the first version of the format
      builder_.NoteTime(stamp.time_ms);
      return;
    }
    if (type == "message" || type == "message_end") {
      if (Json* const message = FindMember(record, "message"); message != nullptr) AddMessage(*message, stamp);
    } else if (type == "model_change") {
      builder_.NoteModel(StringAt(record, "modelId"));
    } else if (type == "compaction" || type == "branch_summary") {
      builder_.Add(stamp, EventKind::kSummary, TakeString(record, "summary"));
    } else if (type == "custom_message") {
      Json* const content = FindMember(record, "content");
      if (content != nullptr) builder_.Add(stamp, EventKind::kSystem, TakeText(*content));
    } else if (type == "leaf") {
      // The conversation goes on after this entry.
      const std::string target = StringAt(record, "targetId");
      if (StringAt(record, "appendMode") != "side" && parents_.count(target) != 0) last_ = target;
      return;
    } else if (type == "session_info") {
      builder_.SetTitle(StringAt(record, "name"));
    } else if (!IsQuiet(type)) {
      builder_.NoteUnknown(record.is_object() ? type : "not an object", record, line);
      return;
    }
    builder_.NoteTime(stamp.time_ms);
    if (id.empty()) return;
    parents_[id] = StringAt(record, "parentId");
    last_ = id;
    entries_.push_back({id, first, builder_.trace().events.size()});
  }

  void Finish() override {
    std::set<std::string> live;
    for (std::string id = last_; !id.empty() && live.insert(id).second;) {
      const auto parent = parents_.find(id);
      id = parent == parents_.end() ? "" : parent->second;
    }
    for (const Entry& entry : entries_) {
      if (live.count(entry.id) == 0) builder_.MarkAbandoned(entry.first, entry.end);
    }
  }

 private:
  struct Entry {
    std::string id;
    std::size_t first = 0;
    std::size_t end = 0;
  };

  static bool IsQuiet(std::string_view type) {
    constexpr std::array<std::string_view, 18> kQuiet = {"thinking_level_change",
                                                         "custom",
                                                         "label",
                                                         "agent_start",
                                                         "agent_end",
                                                         "turn_start",
                                                         "turn_end",
                                                         "message_start",
                                                         "message_update",
                                                         "tool_execution_start",
                                                         "tool_execution_update",
                                                         "tool_execution_end",
                                                         "queue_update",
                                                         "compaction_start",
                                                         "compaction_end",
                                                         "auto_retry_start",
                                                         "auto_retry_end",
                                                         "response"};
    return std::find(kQuiet.begin(), kQuiet.end(), type) != kQuiet.end();
  }

  void AddMessage(Json& message, EventContext stamp) {
    if (const auto time = TimeAt(message, "timestamp")) stamp.time_ms = time;
    const std::string role = StringAt(message, "role");
    Json* const content = FindMember(message, "content");
    if (role == "assistant") {
      AddAssistant(message, stamp);
    } else if (role == "toolResult") {
      const CallStatus status = Member(message, "isError") == true ? CallStatus::kError : CallStatus::kOk;
      builder_.AddResult(stamp, StringAt(message, "toolCallId"), content == nullptr ? "" : TakeText(*content), status);
    } else if (role == "bashExecution") {
      // A command that the user ran.
      builder_.AddCall(stamp, "bashExecution", "", Json::object({{"command", StringAt(message, "command")}}));
      const bool cancelled = Member(message, "cancelled") == true;
      const CallStatus ended = NumberAt(message, "exitCode").value_or(0) == 0 ? CallStatus::kOk : CallStatus::kError;
      const std::size_t result =
          builder_.AddResult(stamp, "", TakeString(message, "output"), cancelled ? CallStatus::kCancelled : ended);
      if (Member(message, "truncated") == true) builder_.MarkShortened(result);
    } else if (role == "user") {
      std::string text = content == nullptr ? std::string() : TakeText(*content);
      NoteSkillCommand(text);
      const bool injected = text.starts_with("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>");  // an agent built on Pi
      builder_.Add(stamp, injected ? EventKind::kSystem : EventKind::kUser, std::move(text));
    } else if (role == "branchSummary" || role == "compactionSummary") {
      builder_.Add(stamp, EventKind::kSummary, TakeString(message, "summary"));
    } else {
      builder_.Add(stamp, EventKind::kSystem, content == nullptr ? "" : TakeText(*content));
    }
  }

  void AddAssistant(Json& message, EventContext stamp) {
    stamp.message = builder_.Message("", "", StringAt(message, "model"));
    const Json& usage = Member(message, "usage");
    TokenUsage tokens;
    tokens.input = NumberAt(usage, "input");
    tokens.cache_read = NumberAt(usage, "cacheRead");
    tokens.cache_write = NumberAt(usage, "cacheWrite");
    tokens.output = NumberAt(usage, "output");
    builder_.SetUsage(stamp.message, tokens);
    builder_.AddCost(Member(Member(usage, "cost"), "total"));
    Json* const content = FindMember(message, "content");
    if (content != nullptr && content->is_array()) {
      for (Json& block : *content) AddBlock(block, stamp);
    } else if (content != nullptr) {
      builder_.Add(stamp, EventKind::kAssistant, TakeText(*content));
    }
    if (const std::string error = StringAt(message, "errorMessage"); !error.empty()) {
      builder_.Add(stamp, EventKind::kSystem, "error: " + error);
    }
  }

  void AddBlock(Json& block, const EventContext& stamp) {
    const std::string type = StringAt(block, "type");
    if (type == "toolCall") {
      Json* const arguments = FindMember(block, "arguments");
      builder_.AddCall(stamp, StringAt(block, "name"), StringAt(block, "id"),
                       arguments == nullptr ? Json() : std::move(*arguments));
    } else {
      builder_.Add(stamp, type == "thinking" ? EventKind::kReasoning : EventKind::kAssistant, TakeText(block));
    }
  }

  void NoteSkillCommand(const std::string& text) {
    constexpr std::string_view kPrefix = "/skill:";
    if (text.rfind(kPrefix, 0) != 0) return;
    const std::size_t end = text.find_first_of(" \n", kPrefix.size());
    builder_.NoteSkill(text.substr(kPrefix.size(), end - kPrefix.size()), "slash command",
                       builder_.trace().events.size());
  }

  TraceBuilder& builder_;
  std::map<std::string, std::string> parents_;
  std::vector<Entry> entries_;
  std::string last_;
};

}  // namespace

RecordReaderPtr MakePiReader(TraceBuilder& builder) { return std::make_unique<PiReader>(builder); }

}  // namespace upskill
