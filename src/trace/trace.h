// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/format.h"

namespace upskill {

enum class EventKind {
  kUser,        // what the user typed
  kAssistant,   // the model's answer
  kReasoning,   // the model's thinking
  kToolCall,    // text: the arguments, as compact JSON where they were an object
  kToolResult,  // text: the output
  kFileChange,  // path; the content is in the call that `partner` names, or in `text`
  kSystem,      // system prompts, injected context, notices of the program
  kSummary,     // the result of a compaction, or a title
  kUnknown,     // a record of unknown kind, as JSON
};
const char* EventKindName(EventKind kind);

enum class CallStatus {
  kUnknown,
  kOk,
  kError,      // the tool failed
  kRejected,   // the user didn't allow it
  kCancelled,  // stopped before it finished
};
const char* CallStatusName(CallStatus status);

// Tokens, normalised: `input` is the uncached part, `output` includes reasoning. What a trace doesn't say is absent.
struct TokenUsage {
  std::optional<long long> input;
  std::optional<long long> cache_read;
  std::optional<long long> cache_write;
  std::optional<long long> output;
  std::optional<long long> reasoning;

  void Add(const TokenUsage& other);
  // The larger value of each field: recordings repeat a message with figures that only ever grow.
  void RaiseTo(const TokenUsage& other);
};

inline constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

struct Event {
  EventKind kind = EventKind::kSystem;
  CallStatus status = CallStatus::kUnknown;  // of a result
  bool shortened = false;                    // the recording contains only part of the text
  bool abandoned = false;                    // on an abandoned branch of the conversation
  std::string text;
  std::string tool;                     // of a call, its result and its file change: the tool's name as recorded
  std::string call_id;                  // may be empty: not every format has ids
  std::string command;                  // of a call that runs a shell command: the command
  std::string path;                     // of a call or change that concerns a file
  std::string agent;                    // id of the subagent; empty in the main thread
  std::optional<std::int64_t> time_ms;  // since 1970, UTC
  std::size_t line = 0;                 // in the source, from 1; 0 where the format has no lines
  std::size_t message = kNoIndex;       // index into Trace::messages
  std::size_t partner = kNoIndex;       // call ↔ result, change → call
};

// One answer of the model's API. Several events may belong to it.
struct ApiMessage {
  std::string id;
  std::string model;
  std::string agent;
  TokenUsage usage;
};

struct Subagent {
  std::string id;
  std::string name;
  std::string call_id;  // of the call that started it, if known
};

struct UsedSkill {
  std::string name;
  std::string how;  // "tool", "slash command", "file read"
  std::size_t event = kNoIndex;
};

// A part of the source that couldn't be read.
struct TraceProblem {
  std::size_t line = 0;
  std::string message;
};

// One whole agent session. Events are in the order of the conversation.
struct Trace {
  std::string source;  // file name for messages and provenance
  TraceFormat format = TraceFormat::kNotes;
  std::string agent_name;  // "Claude Code"
  std::string agent_version;
  std::string session_id;
  std::string cwd;
  std::string title;
  std::deque<Event> events;  // not a vector, because growing one would briefly hold them twice
  std::deque<ApiMessage> messages;
  std::vector<std::string> models;  // of the main thread, in order of appearance
  std::vector<Subagent> subagents;
  std::vector<UsedSkill> skills;
  std::optional<TokenUsage> session_usage;  // totals, if the format has them; they override the sum of the messages
  std::optional<double> cost_usd;
  bool passed_checks = false;     // checks of its task have passed on what was left
  std::optional<bool> succeeded;  // if the recording says how it ended (score, exit status)
  std::optional<std::int64_t> first_ms;
  std::optional<std::int64_t> last_ms;
  std::map<std::string, std::size_t> unknown_records;  // kind → count; never fatal
  std::vector<TraceProblem> problems;
  std::vector<std::string> caveats;  // notes for reading the figures
  bool lossy = false;                // the format omits text (screen copies, exports)
  std::size_t dropped_lines = 0;     // if the format says how many
};

// The figures that `trace show` prints. Calls, messages and tokens are those of the main thread.
struct TraceCounts {
  std::size_t human_turns = 0;
  std::size_t assistant_messages = 0;
  std::size_t tool_calls = 0;
  std::map<std::string, std::size_t> tool_calls_by_name;
  std::size_t tool_errors = 0;  // results that failed, were rejected or cancelled
  std::size_t tool_rejections = 0;
  std::size_t subagents = 0;
  std::size_t subagent_tool_calls = 0;
  std::vector<std::string> skills_used;
  TokenUsage tokens;
  TokenUsage subagent_tokens;
  std::size_t longest_tool_output = 0;  // code points
  std::size_t shortened_outputs = 0;
  std::size_t unknown_records = 0;
};
TraceCounts CountTrace(const Trace& trace);

// The place of an event in a trace.
struct EventPlace {
  std::string source;      // of the trace
  std::size_t number = 0;  // of the event, from 1
};
EventPlace PlaceOf(const Trace& trace, std::size_t event);
// "a.jsonl#17"; with a colon it would look like a line number.
std::string ToText(const EventPlace& place);

// Milliseconds since 1970 from ISO 8601 ("2026-01-02T03:04:05.6Z", an offset, a space instead of T).
std::optional<std::int64_t> ParseTimestamp(std::string_view text);
// "2026-01-02T03:04:05.600Z"
std::string FormatTimestamp(std::int64_t time_ms);

}  // namespace upskill
