// SPDX-License-Identifier: Apache-2.0
// fast-agent histories (history_<agent>.json), in which calls and results are objects keyed by call id, and their text
// form.
#include <algorithm>
#include <optional>
#include <vector>

#include "trace/formats/readers.h"
#include "trace/read/record_parser.h"
#include "util/text.h"

namespace upskill {
namespace {

class FastAgentReader : public RecordReader {
 public:
  explicit FastAgentReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    if (Json* const messages = FindMember(record, "messages"); messages != nullptr && messages->is_array()) {
      for (Json& message : *messages) AddMessage(message, line);
    } else {
      AddMessage(record, line);
    }
  }

 private:
  void AddMessage(Json& message, std::size_t line) {
    if (!message.is_object()) {
      builder_.NoteUnknown("not an object", message, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(message, "timestamp");
    const bool assistant = StringAt(message, "role") == "assistant";
    if (assistant) {
      stamp.message = builder_.Message("", "", "");
      AddChannels(message, stamp);
    }
    AddResults(message, stamp);
    Json* const content = FindMember(message, "content");
    const bool is_template = Member(message, "is_template") == true;
    EventKind kind = assistant ? EventKind::kAssistant : EventKind::kUser;
    if (!assistant && (is_template || StringAt(message, "role") == "system")) kind = EventKind::kSystem;
    if (content != nullptr) builder_.Add(stamp, kind, TakeText(*content));
    AddCalls(message, stamp);
    if (StringAt(message, "stop_reason") == "error")
      builder_.Add(stamp, EventKind::kSystem, "error: the model call failed");
  }

  void AddCalls(Json& message, const EventContext& stamp) {
    Json* const calls = FindMember(message, "tool_calls");
    if (calls == nullptr || !calls->is_object()) return;
    for (auto& entry : calls->items()) {
      Json* const params = FindMember(entry.value(), "params");
      Json& call = params == nullptr ? entry.value() : *params;
      Json* const arguments = FindMember(call, "arguments");
      builder_.AddCall(stamp, StringAt(call, "name"), entry.key(),
                       arguments == nullptr ? Json() : std::move(*arguments));
    }
  }

  void AddResults(Json& message, const EventContext& stamp) {
    Json* const results = FindMember(message, "tool_results");
    if (results == nullptr || !results->is_object()) return;
    for (auto& entry : results->items()) {
      const CallStatus status = Member(entry.value(), "isError") == true ? CallStatus::kError : CallStatus::kOk;
      Json* const content = FindMember(entry.value(), "content");
      builder_.AddResult(stamp, entry.key(), content == nullptr ? "" : TakeText(*content), status);
    }
  }

  void AddChannels(Json& message, const EventContext& stamp) {
    Json* const channels = FindMember(message, "channels");
    if (channels == nullptr || !channels->is_object()) return;
    for (auto& entry : channels->items()) {
      if (entry.key() == "reasoning") {
        builder_.Add(stamp, EventKind::kReasoning, TakeText(entry.value()));
      } else if (entry.key() == "fast-agent-usage") {
        AddUsage(TakeText(entry.value()), stamp);
      } else if (entry.key() == "fast-agent-error") {
        builder_.Add(stamp, EventKind::kSystem, "error: " + TakeText(entry.value()));
      }
    }
  }

  void AddUsage(const std::string& text, const EventContext& stamp) {
    const ParsedRecord parsed = ParseRecord(text);
    if (!parsed.value) return;
    const Json& turn = Member(*parsed.value, "turn");
    builder_.SetModel(stamp.message, StringAt(turn, "model"));
    builder_.NoteTime(TimeAt(turn, "timestamp"));
    const Json& cache = Member(turn, "cache_usage");
    // `input_tokens` excludes cache reads and writes, but includes hits.
    const auto read = NumberAt(cache, "cache_read_tokens");
    const auto hit = NumberAt(cache, "cache_hit_tokens");
    TokenUsage usage;
    if (const auto input = NumberAt(turn, "input_tokens")) usage.input = std::max(0LL, *input - hit.value_or(0));
    if (read || hit) usage.cache_read = read.value_or(0) + hit.value_or(0);
    usage.cache_write = NumberAt(cache, "cache_write_tokens");
    usage.output = NumberAt(turn, "output_tokens");
    usage.reasoning = NumberAt(turn, "reasoning_tokens");
    builder_.SetUsage(stamp.message, usage);
  }

  TraceBuilder& builder_;
};

// One message of the text form: lines after ---USER or ---ASSISTANT, with attachments as JSON after ---RESOURCE.
class TextMessage {
 public:
  TextMessage(bool user, std::size_t line) : user_(user), line_(line) {}

  void BeginResource() {
    in_resource_ = true;
    resource_.clear();
  }

  void AddLine(std::string_view line) {
    std::string& target = in_resource_ ? resource_ : text_;
    target += line;
    target += '\n';
    // Attachments are indented, so only the end of one is at the start of a line.
    if (in_resource_ && line == "}") EndResource();
  }

  void Finish(TraceBuilder& builder) {
    if (in_resource_) EndResource();
    EventContext stamp;
    stamp.line = line_;
    for (std::string& attachment : attachments_) builder.Add(stamp, EventKind::kSystem, std::move(attachment));
    if (!user_) stamp.message = builder.Message("", "", "");
    builder.Add(stamp, user_ ? EventKind::kUser : EventKind::kAssistant, std::string(Trim(text_)));
  }

 private:
  void EndResource() {
    in_resource_ = false;
    ParsedRecord parsed = ParseRecord(resource_);
    Json* const resource = parsed.value ? FindMember(*parsed.value, "resource") : nullptr;
    if (resource == nullptr) {
      attachments_.push_back("[file]");
      return;
    }
    std::string shown = "[file] " + StringAt(*resource, "uri");
    if (const std::string text = TakeString(*resource, "text"); !text.empty()) shown += "\n" + text;
    attachments_.push_back(std::move(shown));
  }

  bool user_;
  std::size_t line_;
  bool in_resource_ = false;
  std::string text_;
  std::string resource_;
  std::vector<std::string> attachments_;
};

}  // namespace

void ReadFastAgentText(std::string_view text, TraceBuilder& builder) {
  builder.SetLossy();
  builder.NoteCaveat("the text form of a history has no tool calls, models or tokens");
  std::optional<TextMessage> message;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const std::string_view mark = Trim(line);
    if (mark == "---USER" || mark == "---ASSISTANT") {
      if (message) message->Finish(builder);
      message.emplace(mark == "---USER", number);
    } else if (message && mark == "---RESOURCE") {
      message->BeginResource();
    } else if (message) {
      message->AddLine(line);
    }
  }
  if (message) message->Finish(builder);
}

RecordReaderPtr MakeFastAgentReader(TraceBuilder& builder) { return std::make_unique<FastAgentReader>(builder); }

}  // namespace upskill
