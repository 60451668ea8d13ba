// SPDX-License-Identifier: Apache-2.0
#include "trace/read/detect.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "trace/read/record_parser.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kRecordsToLookAt = 40;

bool HasBlock(const Json& message, std::initializer_list<std::string_view> types) {
  const Json& content = Member(message, "content");
  if (!content.is_array()) return false;
  return std::any_of(content.begin(), content.end(),
                     [&](const Json& block) { return IsOneOf(StringAt(block, "type"), types); });
}

// Whether a message with a role tells anything; lists of users and of permissions have roles, too.
bool SaysSomething(const Json& message) {
  constexpr std::array kParts = {"content",   "value",   "tool_calls",        "toolCalls", "function_call",
                                 "reasoning", "refusal", "reasoning_content", "thinking"};
  return std::any_of(kParts.begin(), kParts.end(), [&](const char* key) { return !Member(message, key).is_null(); });
}

// "null", "true", "17": a record of no trace, but neither a line of text.
bool IsBareScalar(std::string_view line) {
  constexpr std::size_t kMaxBytes = 64;
  const bool may_be = line.size() <= kMaxBytes && std::string_view("ntf-0123456789").find(line.front()) != line.npos;
  return may_be && ParseRecord(line).value.has_value();
}

// OpenAI or Anthropic, or one of the formats built on their messages.
std::optional<TraceDetection> DetectMessageList(const Json& messages, const Json& document) {
  if (!messages.is_array() || messages.empty()) return std::nullopt;
  bool any_role = false;
  for (std::size_t i = 0; i < std::min(messages.size(), kRecordsToLookAt); ++i) {
    const Json& message = messages[i];
    const Json& content = Member(message, "content");
    any_role = any_role || ((message.contains("role") || message.contains("from")) && SaysSomething(message));
    if (Member(message, "tool_calls").is_object() || message.contains("channels") || message.contains("stop_reason") ||
        message.contains("is_template") || Member(message, "tool_results").is_object()) {
      return TraceDetection{TraceFormat::kFastAgent, TraceShape::kDocument};
    }
    // The actions of the agent, or in its first version their results.
    if (content.is_string() && (content.get_ref<const std::string&>().find("mswea_bash_command") != std::string::npos ||
                                content.get_ref<const std::string&>().starts_with("<returncode>"))) {
      return TraceDetection{TraceFormat::kMiniSweAgent, TraceShape::kDocument};
    }
    if (message.contains("parts")) return TraceDetection{TraceFormat::kGeminiCli, TraceShape::kDocument};
  }
  if (!any_role) return std::nullopt;
  for (std::size_t i = 0; i < std::min(messages.size(), kRecordsToLookAt); ++i) {
    if (HasBlock(messages[i], {"tool_use", "tool_result", "thinking", "redacted_thinking"})) {
      return TraceDetection{TraceFormat::kAnthropicMessages, TraceShape::kDocument};
    }
  }
  if (!Member(document, "system").is_null()) {
    return TraceDetection{TraceFormat::kAnthropicMessages, TraceShape::kDocument};
  }
  return TraceDetection{TraceFormat::kOpenAiMessages, TraceShape::kDocument};
}

std::optional<TraceFormat> FormatOfSessionLine(const Json& record) {
  if (!record.contains("harness")) return TraceFormat::kPi;
  return record.contains("version") && record.contains("cwd") ? TraceFormat::kPi : TraceFormat::kHfSts;
}

std::optional<TraceFormat> FormatOfTypedLine(const Json& record, const std::string& type) {
  const bool timed = record.contains("timestamp");
  if (record.contains("payload") &&
      IsOneOf(type, {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})) {
    return TraceFormat::kCodexRollout;
  }
  if (record.contains("data") && timed && type.find('.') != std::string::npos) return TraceFormat::kCopilot;
  if (type == "hook.start" || type == "abort") return TraceFormat::kCopilot;
  if (type.starts_with("thread.") || type.starts_with("turn.") || type.starts_with("item."))
    return TraceFormat::kCodexExec;
  if (record.contains("properties") && type.find('.') != std::string::npos) return TraceFormat::kOpenCode;
  if (record.contains("sessionID") && (record.contains("part") || record.contains("error")))
    return TraceFormat::kOpenCode;
  if (type.starts_with("message_") && record.contains("message")) return TraceFormat::kPi;
  if (IsOneOf(type, {"agent_start", "agent_end", "turn_start"})) return TraceFormat::kPi;
  if (IsQwenRecord(record)) return TraceFormat::kGeminiCli;
  if (type == "session") return FormatOfSessionLine(record);
  if (type == "message" && record.contains("message")) {
    // The first version of Pi's format has no ids; each line has its own time.
    return record.contains("parentId") || timed ? TraceFormat::kPi : TraceFormat::kHfSts;
  }
  if (record.contains("parentId") && IsOneOf(type, {"model_change", "thinking_level_change", "compaction", "custom"})) {
    return TraceFormat::kPi;
  }
  if (record.contains("id") && IsOneOf(type, {"user", "gemini", "info", "error", "warning"}) &&
      (record.contains("content") || record.contains("toolCalls"))) {
    return TraceFormat::kGeminiCli;
  }
  // Gemini CLI's stream-json, whose messages have the fields of Codex's first format.
  if (record.contains("tool_id") && IsOneOf(type, {"tool_use", "tool_result"})) return TraceFormat::kGeminiCli;
  if (type == "init" && record.contains("session_id")) return TraceFormat::kGeminiCli;
  if (type == "message" && timed && Member(record, "content").is_string()) return TraceFormat::kGeminiCli;
  if (record.contains("sessionId") || record.contains("parentUuid") || record.contains("leafUuid") ||
      type == "file-history-snapshot" || type == "queue-operation") {
    return TraceFormat::kClaudeCode;
  }
  if (type == "result" || type == "stream_event" || (type == "system" && record.contains("subtype")))
    return TraceFormat::kClaudeCodeResult;
  if ((type == "user" || type == "assistant") && record.contains("message")) {
    return record.contains("uuid") && !record.contains("session_id") ? TraceFormat::kClaudeCode
                                                                     : TraceFormat::kClaudeCodeResult;
  }
  if (type == "summary" && record.contains("summary")) return TraceFormat::kClaudeCode;
  if (IsOneOf(type, {"function_call", "function_call_output", "reasoning"}) ||
      (type == "message" && record.contains("role"))) {
    return TraceFormat::kCodexRollout;
  }
  return std::nullopt;
}

std::optional<TraceFormat> FormatOfLine(const Json& record) {
  if (!record.is_object()) return std::nullopt;
  const Json& event = Member(record, "event");
  if (event.is_object() && event.contains("properties")) return TraceFormat::kOpenCode;
  const std::string type = StringAt(record, "type");
  if (!type.empty() && type != "message") return FormatOfTypedLine(record, type);
  if (record.contains("sessionId") && record.contains("projectHash")) return TraceFormat::kGeminiCli;
  if (record.contains("$set") || record.contains("$rewindTo")) return TraceFormat::kGeminiCli;
  if (record.contains("record_type")) return TraceFormat::kCodexRollout;
  if (Member(record, "info").contains("role") && record.contains("parts")) return TraceFormat::kOpenCode;
  if (record.contains("id") && record.contains("timestamp") && record.contains("instructions"))
    return TraceFormat::kCodexRollout;
  if (const auto document = DetectDocument(record)) return document->format;
  if (type == "message") return FormatOfTypedLine(record, type);
  if (record.contains("role")) {
    const auto list = DetectMessageList(Json::array({record}), record);
    if (list) return list->format;
  }
  if (Member(record, "request").contains("messages")) return TraceFormat::kOpenAiMessages;
  return std::nullopt;
}

// The format of most of the records; of equally frequent ones, the first seen.
template <typename Records>
std::optional<TraceFormat> VoteOf(const Records& records, std::size_t count) {
  std::vector<std::pair<TraceFormat, std::size_t>> votes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto format = FormatOfLine(records[i]);
    if (!format) continue;
    const auto known =
        std::find_if(votes.begin(), votes.end(), [&](const auto& vote) { return vote.first == *format; });
    if (known == votes.end()) {
      votes.emplace_back(*format, 1);
    } else {
      ++known->second;
    }
  }
  if (votes.empty()) return std::nullopt;
  return std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// "- role: user", with the indentation and quotes that YAML allows.
bool IsYamlRole(std::string_view line) {
  static const RE2 role_pattern(R"(^\s*(?:- )?["']?role["']?: ["']?(?:system|user|assistant|tool)["']?\s*$)");
  return line.size() < 80 && RE2::FullMatch(re2::StringPiece(line.data(), line.size()), role_pattern);
}

std::optional<TraceDetection> DetectText(std::string_view front) {
  const std::vector<std::string_view> lines = SplitLines(front);
  std::size_t answers = 0;
  std::size_t results = 0;
  std::size_t spec_roles = 0;
  std::size_t cursor_roles = 0;
  std::size_t yaml_roles = 0;
  bool cursor_head = false;
  bool yaml_history = false;
  for (const std::string_view line : lines) {
    if (line.find("╭─── Claude Code v") != std::string_view::npos) {
      return TraceDetection{TraceFormat::kClaudeCodeExport, TraceShape::kText};
    }
    if (line.starts_with("<!-- Generated by SpecStory")) {
      return TraceDetection{TraceFormat::kSpecStory, TraceShape::kText};
    }
    if (line.starts_with("● ") || line.starts_with("⏺ ")) ++answers;
    if (line.starts_with("  ⎿")) ++results;
    if (line.starts_with("_**User") || line.starts_with("_**Agent") || line.starts_with("_**Assistant")) ++spec_roles;
    if (line == "**User**" || line == "**Cursor**") ++cursor_roles;
    if (line == "history:") yaml_history = true;
    if (yaml_history && IsYamlRole(line)) ++yaml_roles;
    if (line.starts_with("_Exported on ") && line.find(" from Cursor (") != std::string_view::npos) cursor_head = true;
  }
  if (cursor_head && cursor_roles > 0) return TraceDetection{TraceFormat::kCursor, TraceShape::kText};
  if (spec_roles > 0) return TraceDetection{TraceFormat::kSpecStory, TraceShape::kText};
  if (yaml_roles >= 2) return TraceDetection{TraceFormat::kSweAgent, TraceShape::kYaml};
  if (const std::string_view first = Trim(front.substr(0, front.find('\n', front.find_first_not_of(" \t\r\n"))));
      first == "---USER" || first == "---ASSISTANT") {
    return TraceDetection{TraceFormat::kFastAgent, TraceShape::kText};
  }
  if (answers >= 3 && results > 0) {
    return TraceDetection{TraceFormat::kClaudeCodeExport, TraceShape::kText};
  }
  return std::nullopt;
}

}  // namespace

std::string_view RecordInLine(std::string_view line) {
  line = Trim(line);
  if (line.starts_with("data:")) line = Trim(line.substr(5));
  return line;
}

const Json& SessionLinesIn(const Json& document) {
  for (const char* key : {"loglines", "events", "data"}) {
    if (const Json& lines = Member(document, key); lines.is_array()) return lines;
  }
  return Member(document, "loglines");
}

std::optional<TraceDetection> DetectDocument(const Json& document) {
  const auto found = [](TraceFormat format) { return TraceDetection{format, TraceShape::kDocument}; };
  if (document.is_array()) {
    const std::size_t count = std::min(document.size(), kRecordsToLookAt);
    bool typed = false;
    for (std::size_t i = 0; i < count; ++i) typed = typed || document[i].contains("type");
    if (typed) {
      const auto format = VoteOf(document, count);
      // The elements of a list with session ids are those of a print-mode run.
      if (format == TraceFormat::kClaudeCode) return found(TraceFormat::kClaudeCodeResult);
      if (format) return found(*format);
    }
    return DetectMessageList(document, Json());
  }
  if (!document.is_object()) return std::nullopt;
  if (const Json& lines = SessionLinesIn(document); lines.is_array() && !lines.empty()) {
    const auto format = VoteOf(lines, std::min(lines.size(), kRecordsToLookAt));
    if (format == TraceFormat::kClaudeCode || format == TraceFormat::kClaudeCodeResult)
      return found(TraceFormat::kClaudeCode);
  }
  if (StringAt(document, "schema_version").starts_with("ATIF-")) return found(TraceFormat::kAtif);
  if (StringAt(document, "trajectory_format").starts_with("mini-swe-agent")) {
    return found(TraceFormat::kMiniSweAgent);
  }
  if (document.contains("history") && (document.contains("trajectory") || Member(document, "history").is_array())) {
    return found(TraceFormat::kSweAgent);
  }
  if (document.contains("trajectory") && document.contains("info")) return found(TraceFormat::kSweAgent);
  if (const Json& attempts = Member(document, "attempts");
      attempts.is_array() && !attempts.empty() &&
      (attempts[0].contains("trajectory") || attempts[0].contains("history")))
    return found(TraceFormat::kSweAgent);
  if (document.contains("sessionId") && document.contains("projectHash")) {
    return found(TraceFormat::kGeminiCli);
  }
  if (Member(Member(document, "stats"), "models").is_object() &&
      (document.contains("response") || document.contains("error")))
    return found(TraceFormat::kGeminiCli);
  if (document.contains("session_id") && document.contains("error") && Member(document, "error").contains("message"))
    return found(TraceFormat::kGeminiCli);
  const Json& messages = Member(document, "messages");
  if (document.contains("eval") && (document.contains("samples") || document.contains("plan"))) {
    return found(TraceFormat::kInspect);
  }
  if (messages.is_array() && !messages.empty() && messages[0].contains("parts") && document.contains("info")) {
    return found(TraceFormat::kOpenCode);
  }
  if (Member(document, "info").contains("mini_version") || Member(document, "info").contains("submission")) {
    return found(TraceFormat::kMiniSweAgent);
  }
  if (const auto list = DetectMessageList(messages, document)) return list;
  if (document.contains("choices") || (StringAt(document, "type") == "message" && document.contains("stop_reason"))) {
    return found(document.contains("choices") ? TraceFormat::kOpenAiMessages : TraceFormat::kAnthropicMessages);
  }
  return DetectMessageList(Member(document, "conversations"), document);
}

std::size_t StartOfDocument(std::string_view text) {
  const std::string_view front = text.substr(0, 400);
  if (Trim(front).empty() || Trim(front).front() == '{' || Trim(front).front() == '[') return 0;
  // Windows has the document in the same line.
  const std::size_t at = front.starts_with("Exporting session:") ? front.find('{') : front.find("\n{");
  return at == std::string_view::npos ? 0 : at;
}

bool IsQwenRecord(const Json& record) {
  return record.contains("uuid") && (record.contains("systemPayload") || Member(record, "message").contains("parts"));
}

TraceDetection DetectTrace(std::string_view front) {
  if (front.starts_with("PK\x03\x04")) return {TraceFormat::kInspect, TraceShape::kArchive};
  std::vector<Json> records;
  std::size_t lines = 0;
  std::size_t scalars = 0;
  std::size_t begin = 0;
  while (begin < front.size() && lines < kRecordsToLookAt) {
    const std::size_t end = std::min(front.find('\n', begin), front.size());
    const std::string_view line = RecordInLine(front.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.starts_with("event:") || line.starts_with(':')) continue;
    ++lines;
    scalars += IsBareScalar(line) ? 1U : 0U;
    if (line.front() != '{' && line.front() != '[' && line.front() != '"') continue;
    ParsedRecord parsed = ParseRecord(line);
    if (parsed.value && (parsed.value->is_object() || lines > 1)) records.push_back(std::move(*parsed.value));
  }
  const bool mostly_records = !records.empty() && records.size() * 2 >= lines;
  auto voted = mostly_records ? VoteOf(records, records.size()) : std::nullopt;
  // Sessions of other agents begin like Pi's, too.
  if (voted == TraceFormat::kPi && records.size() > 3 && !VoteOf(records.begin() + 1, records.size() - 1))
    voted.reset();
  if (voted) return {*voted, TraceShape::kLines};
  if (const auto text = DetectText(front)) return *text;
  if ((mostly_records || scalars == lines) && lines > 1) return {TraceFormat::kNotes, TraceShape::kText, true};
  const std::string_view trimmed = Trim(front);
  if (trimmed.starts_with('{') || trimmed.starts_with('[')) return {TraceFormat::kNotes, TraceShape::kDocument};
  if (StartOfDocument(trimmed) > 0 && trimmed.substr(0, 4096).find("\"info\"") != std::string_view::npos)
    return {TraceFormat::kOpenCode, TraceShape::kDocument};
  return {TraceFormat::kNotes, TraceShape::kText};
}

}  // namespace upskill
