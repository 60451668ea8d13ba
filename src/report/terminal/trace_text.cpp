// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

Json TimeOrNull(const std::optional<std::int64_t>& time_ms) {
  return time_ms ? Json(FormatTimestamp(*time_ms)) : Json(nullptr);
}

Json TokensJson(const TokenUsage& tokens) {
  return Json::object({{"input", JsonOrNull(tokens.input)},
                       {"cache_read", JsonOrNull(tokens.cache_read)},
                       {"cache_write", JsonOrNull(tokens.cache_write)},
                       {"output", JsonOrNull(tokens.output)}});
}

// "2026-01-12 14:02 – 15:31", UTC.
std::string TimeSpan(const Trace& trace) {
  if (!trace.first_ms || !trace.last_ms) return "";
  const std::string first = FormatTimestamp(*trace.first_ms);
  const std::string last = FormatTimestamp(*trace.last_ms);
  const std::string end = first.substr(0, 10) == last.substr(0, 10) ? "" : last.substr(0, 10) + " ";
  return fmt::format("{} {} – {}{} UTC", first.substr(0, 10), first.substr(11, 5), end, last.substr(11, 5));
}

TerminalText ToolList(const TraceCounts& counts) {
  std::vector<std::pair<std::string, std::size_t>> tools(counts.tool_calls_by_name.begin(),
                                                         counts.tool_calls_by_name.end());
  std::stable_sort(tools.begin(), tools.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (tools.empty()) return "no tools";
  std::vector<std::string> parts;
  parts.reserve(tools.size());
  for (const auto& [name, count] : tools) parts.push_back(fmt::format("{} {}", name, count));
  return "tools: " + TerminalText::Join(parts, ", ");
}

std::string TokenLine(const TokenUsage& tokens) {
  if (!tokens.input && !tokens.output) return "tokens unknown";
  std::string line = "tokens";
  if (tokens.input) {
    line += " in " + WithThousands(*tokens.input + tokens.cache_write.value_or(0));
    if (tokens.cache_read.value_or(0) > 0) line += fmt::format(" (+{} cached)", ShortCount(*tokens.cache_read));
  }
  if (tokens.output) line += " out " + WithThousands(*tokens.output);
  return line;
}

}  // namespace

std::string ShortCount(long long number) {
  if (number < 1000) return std::to_string(number);
  const double value = static_cast<double>(number);
  if (number < 100'000) return fmt::format("{:.1f} k", value / 1e3);
  if (number < 1'000'000) return fmt::format("{:.0f} k", value / 1e3);
  return fmt::format("{:.1f} M", value / 1e6);
}

Json TraceShowJson(const Trace& trace) {
  const TraceCounts counts = CountTrace(trace);
  Json tools = Json::object();
  for (const auto& [name, count] : counts.tool_calls_by_name) tools[name] = count;
  Json unknown = Json::object();
  for (const auto& [kind, count] : trace.unknown_records) unknown[kind] = count;
  Json problems = Json::array();
  for (const TraceProblem& problem : trace.problems) {
    problems.push_back(Json::object({{"line", problem.line}, {"message", problem.message}}));
  }
  return Json::object({{"source", trace.source},
                       {"format", TraceFormatName(trace.format)},
                       {"agent", trace.agent_name},
                       {"agent_version", trace.agent_version},
                       {"session_id", trace.session_id},
                       {"title", trace.title},
                       {"cwd", trace.cwd},
                       {"human_turns", counts.human_turns},
                       {"assistant_messages", counts.assistant_messages},
                       {"tool_calls", counts.tool_calls},
                       {"tool_calls_by_name", std::move(tools)},
                       {"tool_errors", counts.tool_errors},
                       {"tool_rejections", counts.tool_rejections},
                       {"subagents", counts.subagents},
                       {"subagent_tool_calls", counts.subagent_tool_calls},
                       {"skills_used", counts.skills_used},
                       {"models", trace.models},
                       {"tokens", TokensJson(counts.tokens)},
                       {"subagent_tokens", TokensJson(counts.subagent_tokens)},
                       {"cost_usd", trace.cost_usd ? Json(*trace.cost_usd) : Json(nullptr)},
                       {"first_timestamp", TimeOrNull(trace.first_ms)},
                       {"last_timestamp", TimeOrNull(trace.last_ms)},
                       {"longest_tool_output", counts.longest_tool_output},
                       {"shortened_outputs", counts.shortened_outputs},
                       {"lossy", trace.lossy},
                       {"unknown_records", counts.unknown_records},
                       {"unknown_records_by_kind", std::move(unknown)},
                       {"problems", std::move(problems)},
                       {"caveats", trace.caveats}});
}

Json EventJson(const Trace& trace, std::size_t index) {
  const Event& event = trace.events.at(index);
  Json json = Json::object({{"event", index + 1}, {"line", event.line}, {"kind", EventKindName(event.kind)}});
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  if (event.time_ms) json["time"] = FormatTimestamp(*event.time_ms);
  add("agent", event.agent);
  if (event.message != kNoIndex) add("model", trace.messages.at(event.message).model);
  add("tool", event.tool);
  add("call_id", event.call_id);
  add("command", event.command);
  add("path", event.path);
  if (event.kind == EventKind::kToolResult) json["status"] = CallStatusName(event.status);
  if (event.partner != kNoIndex) json["partner"] = event.partner + 1;
  if (event.shortened) json["shortened"] = true;
  if (event.abandoned) json["abandoned"] = true;
  json["text"] = event.text;
  return json;
}

TerminalText EventLine(const Trace& trace, std::size_t index, std::size_t columns) {
  const Event& event = trace.events.at(index);
  std::string text = event.kind == EventKind::kToolCall && !event.command.empty() ? event.command : event.text;
  if (event.kind == EventKind::kFileChange) text = event.path;
  text.resize(std::min<std::size_t>(text.size(), columns * 4 + 64));
  std::string label = EventKindName(event.kind);
  if (!event.tool.empty()) label += " " + event.tool;
  if (event.kind == EventKind::kToolResult && event.status != CallStatus::kOk)
    label += fmt::format(" ({})", CallStatusName(event.status));
  if (event.abandoned) label += " (abandoned)";
  const std::string side = event.agent.empty() ? "" : "  | ";
  return TerminalText::Format("{:>5} {}{:<12} {}", index + 1, side, label, Trim(text)).Cut(columns);
}

TerminalText TraceShowText(const Trace& trace, const std::string& redactions) {
  const TraceCounts counts = CountTrace(trace);
  const TerminalText agent = TerminalText::Join(std::vector{trace.agent_name, trace.agent_version}, " ");
  TerminalText text = TerminalText::Join(
      std::vector{agent, TerminalText::Join(trace.models, ", "), TerminalText::EscapeLine(TimeSpan(trace))}, " · ");
  text += "\n";
  std::vector<TerminalText> facts = {
      TerminalText::Format("user {}", Counted(counts.human_turns, "turn")),
      TerminalText::Format("assistant {}", Counted(counts.assistant_messages, "message")), ToolList(counts),
      TerminalText::Format("{}", Counted(counts.tool_errors, "error"))};
  facts.push_back(
      TerminalText::Format("{}", counts.subagents == 0 ? "no subagents" : Counted(counts.subagents, "subagent")));
  facts.push_back(counts.skills_used.empty() ? TerminalText("no skills")
                                             : "skills: " + TerminalText::Join(counts.skills_used, ", "));
  text += TerminalText::Join(facts, " · ") + "\n";
  const std::string cost = trace.cost_usd.value_or(0) > 0 ? MoneyText(*trace.cost_usd) : "";
  text += TerminalText::Join(std::vector{TokenLine(counts.tokens), cost, redactions}, " · ") + "\n";
  if (counts.shortened_outputs > 0) {
    const std::string missing =
        trace.dropped_lines == 0 ? "" : fmt::format(" by {}", Counted(trace.dropped_lines, "line"));
    text += TerminalText::Format("lossy: {} {} shortened{} {}\n", Counted(counts.shortened_outputs, "output"),
                                 counts.shortened_outputs == 1 ? "was" : "were", missing,
                                 trace.format == TraceFormat::kClaudeCodeExport
                                     ? "in the export; the session's JSONL file contains them in full"
                                     : "in the recording");
  } else if (trace.lossy) {
    text += "lossy: this export format omits parts of the session\n";
  }
  if (counts.unknown_records > 0) {
    std::vector<std::string> kinds;
    kinds.reserve(trace.unknown_records.size());
    for (const auto& [kind, count] : trace.unknown_records) kinds.push_back(fmt::format("{} {}", kind, count));
    if (kinds.size() > 8) kinds.resize(8);
    text += TerminalText::Format("not understood: {} ({})\n", Counted(counts.unknown_records, "record"),
                                 TerminalText::Join(kinds, ", "));
  }
  for (const TraceProblem& problem : trace.problems) {
    const std::string line = problem.line == 0 ? "" : fmt::format("{}:", problem.line);
    text += TerminalText::Format("damaged: {}:{} {}\n", trace.source, line, problem.message);
  }
  for (const std::string& caveat : trace.caveats) text += TerminalText::Format("note: {}\n", caveat);
  return text;
}

}  // namespace upskill
