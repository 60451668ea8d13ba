// SPDX-License-Identifier: Apache-2.0
// Gemini CLI sessions (~/.gemini/tmp/*/chats): one JSON object, or since 2026 JSON lines in which a message may recur
// with more content; the older checkpoints, a list of {role, parts}; and what is printed: streams,
// and one object with the answer. Sessions of Qwen Code, which have the same messages in lines like Claude Code's.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/formats/readers.h"
#include "trace/read/builder.h"
#include "trace/read/detect.h"
#include "trace/read/record.h"
#include "util/text.h"

namespace upskill {
namespace {

// What `gemini --output-format stream-json` prints: a line for each message, part of a message, call and result.
class GeminiStream {
 public:
  // Whether the record is one of such a stream.
  static bool Has(const Json& record);

  explicit GeminiStream(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line);

 private:
  // The model's message that calls and text belong to until a result or a user's message follows.
  std::size_t CurrentMessage();
  void AddMessage(Json& record, EventContext stamp);
  void AddResult(Json& record, const EventContext& stamp);
  void AddTotals(const Json& stats);

  TraceBuilder& builder_;
  std::size_t message_ = kNoIndex;
  std::size_t text_ = kNoIndex;  // the event that the next part of the answer's text continues
};

// How a call ended whose program says `success`: Gemini CLI writes the exit code of commands into their output.
CallStatus StatusOfGeminiCall(CallStatus status, std::string_view tool, std::string_view output) {
  if (status != CallStatus::kOk || tool.find("shell") == std::string_view::npos) return status;
  constexpr std::string_view kMark = "Exit Code: ";
  const std::size_t found = output.rfind(kMark);
  if (found == std::string_view::npos || (found > 0 && output[found - 1] != '\n')) return status;
  const std::string_view code = output.substr(found + kMark.size(), 2);
  return !code.empty() && code[0] >= '0' && code[0] <= '9' && Trim(code) != "0" ? CallStatus::kError : status;
}

// The program tells the model in the user's name where it is, what hooks say, and what a shortened history said.
EventKind KindOfUserText(std::string_view text) {
  text = Trim(text);
  if (text.starts_with("<state_snapshot>")) return EventKind::kSummary;
  const bool context = text.starts_with("<session_context>") || text.starts_with("<hook_context>") ||
                       (text.starts_with("This is the ") &&
                        text.substr(0, 100).find(". We are setting up the context for our chat") != text.npos);
  return context ? EventKind::kSystem : EventKind::kUser;
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

// `input` includes `cached`; `output` excludes `thoughts`.
TokenUsage GeminiUsage(const Json& tokens) {
  TokenUsage usage;
  usage.cache_read = NumberAt(tokens, "cached");
  usage.reasoning = NumberAt(tokens, "thoughts");
  if (const auto input = NumberAt(tokens, "input")) {
    usage.input = std::max(0LL, *input + NumberAt(tokens, "tool").value_or(0) - usage.cache_read.value_or(0));
  }
  if (const auto output = NumberAt(tokens, "output")) usage.output = *output + usage.reasoning.value_or(0);
  return usage;
}

CallStatus StatusOfCall(const std::string& status) {
  if (status == "success") return CallStatus::kOk;
  if (status == "error") return CallStatus::kError;
  if (status == "cancelled") return CallStatus::kCancelled;
  return CallStatus::kUnknown;
}

struct Output {
  std::string text;
  bool failed = false;
};

// `result`: a list of {functionResponse: {response: {output} or {error}}}, or plain parts.
Output TakeOutput(Json& result) {
  Output output;
  if (!result.is_array()) return {TakeText(result), false};
  for (Json& part : result) {
    std::string text;
    if (Json* const function = FindMember(part, "functionResponse"); function != nullptr) {
      Json* const response = FindMember(*function, "response");
      if (response == nullptr) continue;
      Json* const error = FindMember(*response, "error");
      Json* const normal = FindMember(*response, "output");
      output.failed = output.failed || error != nullptr;
      text = error != nullptr ? TakeText(*error) : normal != nullptr ? TakeText(*normal) : DumpJson(*response);
    } else {
      text = TakeText(part);
    }
    if (!output.text.empty() && !text.empty()) output.text += '\n';
    output.text += text;
  }
  return output;
}

class GeminiReader : public RecordReader {
 public:
  explicit GeminiReader(TraceBuilder& builder) : builder_(builder), stream_(builder) {}

  void Add(Json& record, std::size_t line) override {
    if (!record.is_object()) {
      builder_.NoteUnknown("not an object", record, line);
    } else if (Json* const messages = FindMember(record, "messages"); messages != nullptr && messages->is_array()) {
      NoteSession(record);
      for (Json& message : *messages) Keep(message, 0);
    } else if (IsQwenRecord(record)) {
      AddQwenRecord(record, line);
    } else if (Json* const set = FindMember(record, "$set"); set != nullptr) {
      AddContext(*set, line);
    } else if (record.contains("$rewindTo")) {
      RewindTo(StringAt(record, "$rewindTo"));
    } else if (GeminiStream::Has(record)) {
      stream_.Add(record, line);
    } else if (record.contains("type")) {
      Keep(record, line);
    } else if (record.contains("role")) {
      EventContext stamp;
      stamp.line = line;
      AddCheckpointMessage(record, stamp, CallStatus::kOk);
    } else if (record.contains("sessionId")) {
      NoteSession(record);
    } else if (record.contains("stats") || record.contains("error")) {
      AddPrinted(record, line);
    } else {
      builder_.NoteUnknown("", record, line);
    }
  }

  void Finish() override {
    for (Kept& kept : kept_) {
      const std::size_t first = builder_.trace().events.size();
      AddMessage(kept);
      if (kept.abandoned) builder_.MarkAbandoned(first, builder_.trace().events.size());
    }
  }

 private:
  struct Kept {
    Json message;
    std::size_t line = 0;
    bool abandoned = false;
  };

  void NoteSession(const Json& record) {
    builder_.SetSession(StringAt(record, "sessionId"));
    builder_.NoteTime(TimeAt(record, "startTime"));
    builder_.NoteTime(TimeAt(record, "lastUpdated"));
    builder_.SetTitle(StringAt(record, "summary"));
  }

  // An id may recur with more data: the last one wins, in the place of the first.
  void Keep(Json& message, std::size_t line) {
    if (!message.is_object()) {
      builder_.NoteUnknown("not an object", message, line);
      return;
    }
    const std::string id = StringAt(message, "id");
    if (!id.empty()) {
      const auto [known, added] = by_id_.try_emplace(id, kept_.size());
      if (!added) {
        kept_[known->second].message = std::move(message);
        return;
      }
    }
    current_.push_back(kept_.size());
    kept_.push_back({std::move(message), line});
  }

  // What the model is shown from now on. Known messages may be shortened there; results of calls are with the calls.
  void AddContext(Json& set, std::size_t line) {
    Json* const messages = FindMember(set, "messages");
    if (messages == nullptr || !messages->is_array()) return;
    for (Json& message : *messages) {
      const std::string id = StringAt(message, "id");
      if (!id.empty() && by_id_.count(id) == 0) Keep(message, line);
    }
  }

  // The message with this id and all after it are taken back; an unknown id takes back all.
  void RewindTo(const std::string& id) {
    const auto found = by_id_.find(id);
    const std::size_t first = found == by_id_.end() ? 0 : found->second;
    while (!current_.empty() && current_.back() >= first) {
      Kept& kept = kept_[current_.back()];
      kept.abandoned = true;
      by_id_.erase(StringAt(kept.message, "id"));
      current_.pop_back();
    }
  }

  void AddMessage(Kept& kept) {
    Json& message = kept.message;
    EventContext stamp;
    stamp.line = kept.line;
    stamp.time_ms = TimeAt(message, "timestamp");
    const std::string type = StringAt(message, "type");
    Json* const content = FindMember(message, "content");
    std::string text = content == nullptr ? std::string() : TakeText(*content);
    if (type == "user") {
      const EventKind kind = KindOfUserText(text);
      builder_.Add(stamp, kind, std::move(text));
    } else if (type == "gemini") {
      stamp.message = builder_.Message(StringAt(message, "id"), "", StringAt(message, "model"));
      builder_.SetUsage(stamp.message, GeminiUsage(Member(message, "tokens")));
      AddThoughts(message, stamp);
      builder_.Add(stamp, EventKind::kAssistant, std::move(text));
      if (Json* const calls = FindMember(message, "toolCalls"); calls != nullptr && calls->is_array()) {
        for (Json& call : *calls) AddCall(call, stamp);
      }
    } else if (type == "info" || type == "error" || type == "warning") {
      builder_.Add(stamp, EventKind::kSystem, type + ": " + text);
    } else {
      builder_.NoteUnknown(type, message, stamp.line);
    }
  }

  void AddThoughts(Json& message, const EventContext& stamp) {
    Json* const thoughts = FindMember(message, "thoughts");
    if (thoughts == nullptr || !thoughts->is_array()) return;
    for (const Json& thought : *thoughts) {
      builder_.Add(stamp, EventKind::kReasoning,
                   StringAt(thought, "subject") + "\n" + StringAt(thought, "description"));
    }
  }

  void AddCall(Json& call, const EventContext& stamp) {
    Json* const arguments = FindMember(call, "args");
    const std::string id = StringAt(call, "id");
    const std::string name = StringAt(call, "name");
    const std::string agent = StringAt(call, "agentId");
    if (!agent.empty()) builder_.NoteSubagent(agent, name, id);
    EventContext at = stamp;
    if (const auto time = TimeAt(call, "timestamp")) at.time_ms = time;
    builder_.AddCall(at, name, id, arguments == nullptr ? Json() : std::move(*arguments));
    CallStatus status = StatusOfCall(StringAt(call, "status"));
    Json* const result = FindMember(call, "result");
    if (result == nullptr && status == CallStatus::kUnknown) return;  // still running
    Output output;
    if (result != nullptr) output = TakeOutput(*result);
    if (output.failed && status != CallStatus::kCancelled) status = CallStatus::kError;
    status = StatusOfGeminiCall(status, name, output.text);
    builder_.AddResult(at, id, std::move(output.text), status);
  }

  void AddQwenRecord(Json& record, std::size_t line) {
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(record, "timestamp");
    builder_.NoteTime(stamp.time_ms);
    builder_.SetAgent("Qwen Code");
    if (builder_.trace().session_id.empty()) builder_.SetSession(StringAt(record, "sessionId"));
    if (builder_.trace().cwd.empty()) builder_.SetFolder(StringAt(record, "cwd"));
    builder_.SetAgentVersion(StringAt(record, "version"));
    Json* const message = FindMember(record, "message");
    if (message == nullptr) return;  // telemetry, commands of the program
    if (StringAt(*message, "role") == "model") {
      stamp.message = builder_.Message(StringAt(record, "uuid"), "", StringAt(record, "model"));
      const Json& counts = Member(record, "usageMetadata");
      const Json tokens = {{"cached", Member(counts, "cachedContentTokenCount")},
                           {"thoughts", Member(counts, "thoughtsTokenCount")},
                           {"input", Member(counts, "promptTokenCount")}};
      TokenUsage usage = GeminiUsage(tokens);
      const auto total = NumberAt(counts, "totalTokenCount");
      usage.output =
          total ? *total - NumberAt(counts, "promptTokenCount").value_or(0) : NumberAt(counts, "candidatesTokenCount");
      builder_.SetUsage(stamp.message, usage);
    }
    const CallStatus status = StatusOfCall(StringAt(Member(record, "toolCallResult"), "status"));
    AddCheckpointMessage(*message, stamp, status == CallStatus::kUnknown ? CallStatus::kOk : status);
  }

  // What `--output-format json` prints.
  void AddPrinted(Json& record, std::size_t line) {
    EventContext stamp;
    stamp.line = line;
    builder_.SetSession(StringAt(record, "session_id"));
    builder_.SetLossy();
    for (const auto& [name, model] : Member(Member(record, "stats"), "models").items()) {
      if (stamp.message == kNoIndex) stamp.message = builder_.Message("", "", name);
      builder_.NoteModel(name);
      const Json& tokens = Member(model, "tokens");
      Json counts = tokens;
      // Newer versions tell the uncached part as `input`.
      if (tokens.contains("prompt")) counts["input"] = Member(tokens, "prompt");
      if (tokens.contains("candidates")) counts["output"] = Member(tokens, "candidates");
      builder_.AddSessionUsage(GeminiUsage(counts));
    }
    const Json& error = Member(record, "error");
    if (error.is_object()) {
      builder_.Add(stamp, EventKind::kSystem, "error: " + StringAt(error, "message"));
      builder_.SetSucceeded(false);
    }
    builder_.Add(stamp, EventKind::kAssistant, TakeString(record, "response"));
  }

  void AddCheckpointMessage(Json& record, EventContext stamp, CallStatus ended) {
    const bool model = StringAt(record, "role") == "model";
    if (model && stamp.message == kNoIndex) stamp.message = builder_.Message("", "", "");
    Json* const parts = FindMember(record, "parts");
    if (parts == nullptr || !parts->is_array()) return;
    for (Json& part : *parts) {
      if (Json* const call = FindMember(part, "functionCall"); call != nullptr) {
        const std::string id = StringAt(*call, "id");
        Json* const arguments = FindMember(*call, "args");
        // Qwen Code calls tools of MCP servers through this one.
        Json* const inner = arguments == nullptr ? nullptr : FindMember(*arguments, "arguments");
        if (inner != nullptr && StringAt(*call, "name") == "tool_call") {
          builder_.AddCall(stamp, StringAt(*arguments, "name"), id, std::move(*inner));
        } else {
          builder_.AddCall(stamp, StringAt(*call, "name"), id, arguments == nullptr ? Json() : std::move(*arguments));
        }
      } else if (Json* const response = FindMember(part, "functionResponse"); response != nullptr) {
        const std::string id = StringAt(*response, "id");
        const std::string name = StringAt(*response, "name");
        Json list = Json::array({std::move(part)});
        Output output = TakeOutput(list);
        const CallStatus status = output.failed ? CallStatus::kError : StatusOfGeminiCall(ended, name, output.text);
        builder_.AddResult(stamp, id, std::move(output.text), status);
      } else if (Member(part, "thought") == true) {
        builder_.Add(stamp, EventKind::kReasoning, TakeText(part));
      } else {
        std::string text = TakeText(part);
        const EventKind kind = model ? EventKind::kAssistant : KindOfUserText(text);
        builder_.Add(stamp, kind, std::move(text));
      }
    }
  }

  TraceBuilder& builder_;
  GeminiStream stream_;
  std::vector<Kept> kept_;
  std::vector<std::size_t> current_;  // those not taken back
  std::map<std::string, std::size_t> by_id_;
};

}  // namespace

RecordReaderPtr MakeGeminiReader(TraceBuilder& builder) { return std::make_unique<GeminiReader>(builder); }

}  // namespace upskill
