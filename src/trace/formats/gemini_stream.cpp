// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/gemini_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {

CallStatus StatusOfGeminiCall(CallStatus status, std::string_view tool, std::string_view output) {
  if (status != CallStatus::kOk || tool.find("shell") == std::string_view::npos) return status;
  constexpr std::string_view kMark = "Exit Code: ";
  const std::size_t found = output.rfind(kMark);
  if (found == std::string_view::npos || (found > 0 && output[found - 1] != '\n')) return status;
  const std::string_view code = output.substr(found + kMark.size(), 2);
  return !code.empty() && code[0] >= '0' && code[0] <= '9' && Trim(code) != "0" ? CallStatus::kError : status;
}

bool GeminiStream::Has(const Json& record) {
  const std::string type = StringAt(record, "type");
  if (type == "tool_use" || type == "tool_result") return record.contains("tool_id");
  if (type == "message") return record.contains("role");
  if (type == "init") return record.contains("session_id");
  return (type == "result" && record.contains("status")) || (type == "error" && record.contains("severity"));
}

void GeminiStream::Add(Json& record, std::size_t line) {
  EventContext stamp;
  stamp.line = line;
  stamp.time_ms = TimeAt(record, "timestamp");
  const std::string type = StringAt(record, "type");
  if (type != "message") text_ = kNoIndex;
  if (type == "init") {
    builder_.SetSession(StringAt(record, "session_id"));
    builder_.NoteModel(StringAt(record, "model"));
    builder_.NoteTime(stamp.time_ms);
  } else if (type == "message") {
    AddMessage(record, stamp);
  } else if (type == "tool_use") {
    stamp.message = CurrentMessage();
    Json* const parameters = FindMember(record, "parameters");
    builder_.AddCall(stamp, StringAt(record, "tool_name"), StringAt(record, "tool_id"),
                     parameters == nullptr ? Json() : std::move(*parameters));
  } else if (type == "tool_result") {
    message_ = kNoIndex;
    AddResult(record, stamp);
  } else if (type == "error") {
    builder_.Add(stamp, EventKind::kSystem, "error: " + TakeString(record, "message"));
  } else {
    builder_.NoteTime(stamp.time_ms);
    AddTotals(Member(record, "stats"));
  }
}

std::size_t GeminiStream::CurrentMessage() {
  if (message_ == kNoIndex) message_ = builder_.Message("", "", "");
  return message_;
}

void GeminiStream::AddMessage(Json& record, EventContext stamp) {
  Json* const content = FindMember(record, "content");
  std::string text = content == nullptr ? std::string() : TakeText(*content);
  if (StringAt(record, "role") == "user") {
    message_ = kNoIndex;
    text_ = kNoIndex;
    builder_.Add(stamp, EventKind::kUser, std::move(text));
    return;
  }
  stamp.message = CurrentMessage();
  const Json& delta = Member(record, "delta");
  const bool part = delta.is_boolean() && delta.get<bool>();
  if (part && text_ != kNoIndex) {
    builder_.AppendText(text_, std::move(text));
    builder_.NoteTime(stamp.time_ms);
  } else {
    text_ = builder_.Add(stamp, EventKind::kAssistant, std::move(text));
  }
  if (!part) text_ = kNoIndex;
}

void GeminiStream::AddResult(Json& record, const EventContext& stamp) {
  const std::string status = StringAt(record, "status");
  Json* const output = FindMember(record, "output");
  std::string text = output == nullptr ? std::string() : TakeText(*output);
  if (text.empty()) text = StringAt(Member(record, "error"), "message");
  const std::string id = StringAt(record, "tool_id");
  const std::size_t call = builder_.FindCall(id);
  const std::string tool = call == kNoIndex ? "" : builder_.trace().events[call].tool;
  const CallStatus said = status == "success" ? CallStatus::kOk
                          : status == "error" ? CallStatus::kError
                                              : CallStatus::kUnknown;
  const CallStatus ended = StatusOfGeminiCall(said, tool, text);
  builder_.AddResult(stamp, id, std::move(text), ended);
}

// `input_tokens` includes `cached`; `total_tokens` has the thoughts, which `output_tokens` leaves out.
void GeminiStream::AddTotals(const Json& stats) {
  const auto input = NumberAt(stats, "input_tokens");
  const auto output = NumberAt(stats, "output_tokens");
  if (!input || !output) return;
  TokenUsage usage;
  usage.cache_read = NumberAt(stats, "cached");
  usage.input = std::max(0LL, *input - usage.cache_read.value_or(0));
  const auto total = NumberAt(stats, "total_tokens");
  usage.output = total ? std::max(*output, *total - *input) : *output;
  builder_.AddSessionUsage(usage);
}

}  // namespace upskill
