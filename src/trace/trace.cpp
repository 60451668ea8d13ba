// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "util/text.h"

namespace upskill {
namespace {

void AddTokens(std::optional<long long>& sum, const std::optional<long long>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

void RaiseTokens(std::optional<long long>& largest, const std::optional<long long>& value) {
  if (value) largest = std::max(largest.value_or(*value), *value);
}

// Removes `least` to `most` digits from the front of `text`.
std::optional<int> TakeNumber(std::string_view& text, std::size_t least, std::size_t most) {
  int value = 0;
  std::size_t count = 0;
  while (count < most && count < text.size() && text[count] >= '0' && text[count] <= '9') {
    value = value * 10 + (text[count] - '0');
    ++count;
  }
  if (count < least) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

bool TakeChar(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// Offset from UTC in minutes: "Z", "+02:00", "-0500", or nothing (UTC).
std::optional<int> TakeZone(std::string_view& text) {
  if (text.empty() || TakeChar(text, "Zz")) return 0;
  const bool west = text.front() == '-';
  if (!TakeChar(text, "+-")) return std::nullopt;
  const auto hours = TakeNumber(text, 2, 2);
  TakeChar(text, ":");
  const auto minutes = TakeNumber(text, 2, 2);
  if (!hours) return std::nullopt;
  const int offset = *hours * 60 + minutes.value_or(0);
  return west ? -offset : offset;
}

}  // namespace

const char* EventKindName(EventKind kind) {
  switch (kind) {
    case EventKind::kUser:
      return "user";
    case EventKind::kAssistant:
      return "assistant";
    case EventKind::kReasoning:
      return "reasoning";
    case EventKind::kToolCall:
      return "tool_call";
    case EventKind::kToolResult:
      return "tool_result";
    case EventKind::kFileChange:
      return "file_change";
    case EventKind::kSystem:
      return "system";
    case EventKind::kSummary:
      return "summary";
    case EventKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

const char* CallStatusName(CallStatus status) {
  switch (status) {
    case CallStatus::kUnknown:
      return "unknown";
    case CallStatus::kOk:
      return "ok";
    case CallStatus::kError:
      return "error";
    case CallStatus::kRejected:
      return "rejected";
    case CallStatus::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

void TokenUsage::Add(const TokenUsage& other) {
  AddTokens(input, other.input);
  AddTokens(cache_read, other.cache_read);
  AddTokens(cache_write, other.cache_write);
  AddTokens(output, other.output);
  AddTokens(reasoning, other.reasoning);
}

void TokenUsage::RaiseTo(const TokenUsage& other) {
  RaiseTokens(input, other.input);
  RaiseTokens(cache_read, other.cache_read);
  RaiseTokens(cache_write, other.cache_write);
  RaiseTokens(output, other.output);
  RaiseTokens(reasoning, other.reasoning);
}

TraceCounts CountTrace(const Trace& trace) {
  TraceCounts counts;
  for (const Event& event : trace.events) {
    const bool main_thread = event.agent.empty();
    if (event.kind == EventKind::kUser && main_thread) ++counts.human_turns;
    if (event.kind == EventKind::kToolCall) {
      if (!main_thread) {
        ++counts.subagent_tool_calls;
      } else {
        ++counts.tool_calls;
        ++counts.tool_calls_by_name[event.tool];
      }
    }
    if (event.kind != EventKind::kToolResult) continue;
    counts.longest_tool_output = std::max(counts.longest_tool_output, CountCodePoints(event.text));
    if (event.shortened) ++counts.shortened_outputs;
    if (!main_thread) continue;
    if (event.status != CallStatus::kOk && event.status != CallStatus::kUnknown) ++counts.tool_errors;
    if (event.status == CallStatus::kRejected) ++counts.tool_rejections;
  }
  for (const ApiMessage& message : trace.messages) {
    if (message.agent.empty()) {
      ++counts.assistant_messages;
      counts.tokens.Add(message.usage);
    } else {
      counts.subagent_tokens.Add(message.usage);
    }
  }
  if (trace.session_usage) counts.tokens = *trace.session_usage;
  counts.subagents = trace.subagents.size();
  for (const UsedSkill& use : trace.skills) {
    const auto known = std::find(counts.skills_used.begin(), counts.skills_used.end(), use.name);
    if (known == counts.skills_used.end()) counts.skills_used.push_back(use.name);
  }
  for (const auto& [kind, count] : trace.unknown_records) counts.unknown_records += count;
  return counts;
}

EventPlace PlaceOf(const Trace& trace, std::size_t event) { return {trace.source, event + 1}; }

std::string ToText(const EventPlace& place) { return fmt::format("{}#{}", place.source, place.number); }

std::optional<std::int64_t> ParseTimestamp(std::string_view text) {
  const auto year = TakeNumber(text, 4, 4);
  if (!year || !TakeChar(text, "-")) return std::nullopt;
  const auto month = TakeNumber(text, 1, 2);
  if (!month || !TakeChar(text, "-")) return std::nullopt;
  const auto day = TakeNumber(text, 1, 2);
  if (!day || !TakeChar(text, "Tt ")) return std::nullopt;
  const auto hour = TakeNumber(text, 1, 2);
  if (!hour || !TakeChar(text, ":")) return std::nullopt;
  const auto minute = TakeNumber(text, 2, 2);
  if (!minute) return std::nullopt;
  int second = 0;
  int millisecond = 0;
  if (TakeChar(text, ":")) {
    second = TakeNumber(text, 2, 2).value_or(-1);
    if (TakeChar(text, ".,")) {
      int unit = 100;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        millisecond += (text.front() - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
      }
    }
  }
  const auto zone = TakeZone(text);
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!zone || !date.ok() || *hour > 24 || *minute > 59 || second < 0 || second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + *hour) * 60 + *minute - *zone) * 60000 + std::int64_t{second} * 1000 + millisecond;
}

std::string FormatTimestamp(std::int64_t time_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(time_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

}  // namespace upskill
