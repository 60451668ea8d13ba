// SPDX-License-Identifier: Apache-2.0
// Inspect logs: a whole log in one JSON object, or the header and samples of an .eval archive one by one.
#include <map>

#include "trace/formats/chat_message.h"
#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

using Attachments = std::map<std::string, std::string>;

// Replaces `attachment://<hash>` references by their text.
void ResolveAttachments(Json& value, const Attachments& attachments) {
  constexpr std::string_view kScheme = "attachment://";
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text.rfind(kScheme, 0) != 0) return;
    const auto found = attachments.find(text.substr(kScheme.size()));
    if (found != attachments.end()) value = found->second;
  } else if (value.is_structured()) {
    for (Json& part : value) ResolveAttachments(part, attachments);
  }
}

TokenUsage InspectUsage(const Json& usage) {
  TokenUsage tokens;
  tokens.input = NumberAt(usage, "input_tokens");
  tokens.cache_read = NumberAt(usage, "input_tokens_cache_read");
  tokens.cache_write = NumberAt(usage, "input_tokens_cache_write");
  tokens.output = NumberAt(usage, "output_tokens");
  tokens.reasoning = NumberAt(usage, "reasoning_tokens");
  return tokens;
}

// True for a score that means success: "C", true, or at least 1.
bool IsCorrect(const Json& value) {
  if (value.is_string()) return value == "C" || value == "1.0";
  if (value.is_boolean()) return value.get<bool>();
  return value.is_number() && value.get<double>() >= 1.0;
}

class InspectReader : public RecordReader {
 public:
  explicit InspectReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    if (!record.is_object()) {
      builder_.NoteUnknown("not an object", record, line);
      return;
    }
    if (const Json& eval = Member(record, "eval"); eval.is_object()) AddHeader(record, eval);
    if (Json* const samples = FindMember(record, "samples"); samples != nullptr && samples->is_array()) {
      for (Json& sample : *samples) AddSample(sample, line);
    } else if (record.contains("messages")) {
      AddSample(record, line);
    }
  }

 private:
  void AddHeader(const Json& log, const Json& eval) {
    builder_.SetSession(StringAt(eval, "run_id"));
    builder_.SetTitle(StringAt(eval, "task"));
    builder_.NoteModel(StringAt(eval, "model"));
    for (const char* package : {"inspect_ai", "inspect-ai"})
      builder_.SetAgentVersion(StringAt(Member(eval, "packages"), package));
    const std::string status = StringAt(log, "status");
    if (status == "error") {
      builder_.Add({}, EventKind::kSystem, "error: " + StringAt(Member(log, "error"), "message"));
    }
  }

  void AddSample(Json& sample, std::size_t line) {
    if (!sample.is_object()) {
      builder_.NoteUnknown("sample that is not an object", sample, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    NoteTimes(Member(sample, "events"));
    Attachments attachments;
    if (const Json& list = Member(sample, "attachments"); list.is_object()) {
      for (const auto& entry : list.items()) {
        if (entry.value().is_string()) attachments[entry.key()] = entry.value().get<std::string>();
      }
    }
    Json* const messages = FindMember(sample, "messages");
    if (messages != nullptr && messages->is_array()) {
      for (Json& message : *messages) {
        ResolveAttachments(message, attachments);
        if (!AddChatMessage(builder_, message, stamp))
          builder_.NoteUnknown("role " + StringAt(message, "role"), message, line);
      }
    }
    AddUsage(sample);
    AddScores(sample, stamp);
  }

  void NoteTimes(const Json& events) {
    if (!events.is_array()) return;
    for (const Json& event : events) {
      builder_.NoteTime(TimeAt(event, "timestamp"));
      if (StringAt(event, "event") == "span_begin" && StringAt(event, "type") == "agent") {
        builder_.NoteSubagent(StringAt(event, "id"), StringAt(event, "name"), "");
      }
    }
  }

  void AddUsage(const Json& sample) {
    const Json& usage = Member(sample, "model_usage");
    if (!usage.is_object()) return;
    TokenUsage sum;
    for (const auto& entry : usage.items()) {
      builder_.NoteModel(entry.key());
      sum.Add(InspectUsage(entry.value()));
      builder_.AddCost(Member(entry.value(), "total_cost"));
    }
    builder_.AddSessionUsage(sum);
  }

  void AddScores(const Json& sample, const EventContext& stamp) {
    if (const std::string error = StringAt(Member(sample, "error"), "message"); !error.empty()) {
      builder_.Add(stamp, EventKind::kSystem, "error: " + error);
      builder_.SetSucceeded(false);
    }
    const Json& scores = Member(sample, "scores");
    if (!scores.is_object()) return;
    for (const auto& entry : scores.items()) {
      const Json& value = Member(entry.value(), "value");
      if (value.is_null()) continue;
      const std::string shown = value.is_string() ? value.get<std::string>() : DumpJson(value);
      builder_.Add(stamp, EventKind::kSystem, "score " + entry.key() + ": " + CutToColumns(shown, 200));
      if (!value.is_structured()) builder_.SetSucceeded(builder_.trace().succeeded.value_or(true) && IsCorrect(value));
    }
  }

  TraceBuilder& builder_;
};

}  // namespace

RecordReaderPtr MakeInspectReader(TraceBuilder& builder) { return std::make_unique<InspectReader>(builder); }

}  // namespace upskill
