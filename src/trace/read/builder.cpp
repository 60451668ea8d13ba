// SPDX-License-Identifier: Apache-2.0
#include "trace/read/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/read/record_parser.h"
#include "trace/read/tool_use.h"
#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

// Length of the control sequence at the start of `text`, which begins with ESC (ECMA-48: CSI, OSC, others).
std::size_t ControlSequenceLength(std::string_view text) {
  if (text.size() < 2) return 1;
  if (text[1] == '[') {
    std::size_t i = 2;
    while (i < text.size() &&
           (static_cast<unsigned char>(text[i]) < 0x40 || static_cast<unsigned char>(text[i]) > 0x7E))
      ++i;
    return std::min(i + 1, text.size());
  }
  if (text[1] == ']') {
    for (std::size_t i = 2; i < text.size() && i < 4096; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1b') return std::min(i + 2, text.size());
    }
    return 2;
  }
  return 2;
}

// `text` without terminal control sequences (ECMA-48: colours, links, cursor movement) and with NUL as U+FFFD.
std::string StripControlSequences(std::string text) {
  constexpr std::string_view kSpecial("\x1b\0", 2);
  std::size_t at = text.find_first_of(kSpecial);
  if (at == std::string::npos) return text;
  std::string out;
  out.reserve(text.size());
  std::size_t from = 0;
  while (at != std::string::npos) {
    out.append(text, from, at - from);
    if (text[at] == '\0') {
      out += "\xEF\xBF\xBD";
      from = at + 1;
    } else {
      from = at + ControlSequenceLength(std::string_view(text).substr(at));
    }
    at = text.find_first_of(kSpecial, from);
  }
  out.append(text, from);
  return FindInvalidUtf8(out) ? ReplaceInvalidUtf8(out) : out;
}

}  // namespace

TraceBuilder::TraceBuilder(std::string source, TraceFormat format) {
  trace_.source = std::move(source);
  trace_.format = format;
  trace_.agent_name = TraceFormatTitle(format);
}

void TraceBuilder::SetSession(const std::string& id) {
  if (!id.empty()) trace_.session_id = id;
}

void TraceBuilder::SetTitle(const std::string& title) {
  if (!title.empty()) trace_.title = title;
}

void TraceBuilder::SetFolder(const std::string& cwd) {
  if (!cwd.empty()) trace_.cwd = cwd;
}

void TraceBuilder::SetAgent(const std::string& name) {
  if (!name.empty()) trace_.agent_name = name;
}

void TraceBuilder::SetAgentVersion(const std::string& version) {
  if (!version.empty()) trace_.agent_version = version;
}

void TraceBuilder::SetCost(const Json& usd) {
  if (usd.is_number()) trace_.cost_usd = usd.get<double>();
}

void TraceBuilder::AddCost(const Json& usd) {
  if (usd.is_number()) trace_.cost_usd = trace_.cost_usd.value_or(0.0) + usd.get<double>();
}

void TraceBuilder::AddSessionUsage(const TokenUsage& usage) {
  if (!trace_.session_usage) trace_.session_usage.emplace();
  trace_.session_usage->Add(usage);
}

std::size_t TraceBuilder::Add(const EventContext& stamp, EventKind kind, std::string text) {
  NoteTime(stamp.time_ms);
  text = StripControlSequences(std::move(text));
  const bool words = kind == EventKind::kUser || kind == EventKind::kAssistant || kind == EventKind::kReasoning ||
                     kind == EventKind::kSystem || kind == EventKind::kSummary;
  if (words && Trim(text).empty()) return kNoIndex;
  // The parser reserves space for the escaped form; a trace has too many texts to keep the excess.
  if (text.capacity() - text.size() > 16 + text.size() / 64) text.shrink_to_fit();
  Event event;
  event.kind = kind;
  event.text = std::move(text);
  event.agent = stamp.agent;
  event.time_ms = stamp.time_ms;
  event.line = stamp.line;
  event.message = stamp.message;
  trace_.events.push_back(std::move(event));
  return trace_.events.size() - 1;
}

std::size_t TraceBuilder::AddCall(const EventContext& stamp, std::string tool, std::string call_id, Json arguments) {
  std::string raw;
  if (arguments.is_string()) {
    raw = std::move(arguments.get_ref<std::string&>());
    ParsedRecord parsed = ParseRecord(raw);
    const bool is_object = parsed.value && parsed.value->is_object();
    arguments = is_object ? std::move(*parsed.value) : Json::object({{"raw", raw.substr(0, 4096)}});
    if (is_object) raw.clear();
  }
  std::string command = CommandOf(tool, arguments);
  std::string path = PathOf(arguments);
  const auto skill = SkillOf(tool, arguments, command, path);
  if (raw.empty() && !arguments.is_null()) raw = DumpJson(arguments);
  const std::size_t index = Add(stamp, EventKind::kToolCall, std::move(raw));
  Event& event = trace_.events[index];
  event.tool = tool.empty() ? "unnamed" : std::move(tool);
  event.command = StripControlSequences(std::move(command));
  event.path = std::move(path);
  event.call_id = std::move(call_id);
  if (!event.call_id.empty()) NoteCall(index);
  if (skill) NoteSkill(skill->name, skill->how, index);
  return index;
}

std::size_t TraceBuilder::AddResult(const EventContext& stamp, const std::string& call_id, std::string text,
                                    CallStatus status) {
  const std::size_t result = Add(stamp, EventKind::kToolResult, std::move(text));
  trace_.events[result].status = status;
  trace_.events[result].call_id = call_id;
  const std::size_t call = call_id.empty() ? FindUnanswered(stamp.agent) : FindCall(call_id);
  if (call != kNoIndex) Pair(call, result);
  return result;
}

void TraceBuilder::Pair(std::size_t call, std::size_t result) {
  Event& call_event = trace_.events[call];
  Event& result_event = trace_.events[result];
  result_event.partner = call;
  result_event.tool = call_event.tool;
  result_event.path = call_event.path;
  if (result_event.agent.empty()) result_event.agent = call_event.agent;
  if (call_event.partner == kNoIndex) call_event.partner = result;
  const bool worked = result_event.status == CallStatus::kOk || result_event.status == CallStatus::kUnknown;
  if (!worked || !MayWriteFile(call_event)) return;
  for (const FileEdit& edit : EditsOfCall(call_event)) {
    Event change;
    change.kind = EventKind::kFileChange;
    change.tool = trace_.events[call].tool;
    change.path = edit.path;
    change.agent = trace_.events[call].agent;
    change.time_ms = trace_.events[result].time_ms;
    change.line = trace_.events[call].line;
    change.partner = call;
    trace_.events.push_back(std::move(change));
    if (edit.kind != FileEdit::Kind::kPatch && edit.kind != FileEdit::Kind::kDelete) break;
  }
}

std::size_t TraceBuilder::AddFileChange(const EventContext& stamp, const std::string& tool, std::string path,
                                        std::string text) {
  const std::size_t index = Add(stamp, EventKind::kFileChange, std::move(text));
  trace_.events[index].tool = tool;
  trace_.events[index].path = std::move(path);
  return index;
}

void TraceBuilder::MarkAbandoned(std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) trace_.events.at(i).abandoned = true;
}

void TraceBuilder::AppendText(std::size_t event, std::string text) {
  trace_.events.at(event).text += StripControlSequences(std::move(text));
}

void TraceBuilder::SetModel(std::size_t message, const std::string& model) {
  trace_.messages.at(message).model = model;
  NoteModel(model);
}

std::size_t TraceBuilder::Message(const std::string& id, const std::string& agent, const std::string& model) {
  if (agent.empty()) NoteModel(model);
  const std::size_t index = trace_.messages.size();
  if (!id.empty()) {
    const auto hash_of = [](const ApiMessage& message) {
      return SeedFromText(message.id) ^ (SeedFromText(message.agent) << 1U);
    };
    ApiMessage message{id, model, agent, {}};
    const auto same = [&](std::size_t known) {
      return trace_.messages[known].id == id && trace_.messages[known].agent == agent;
    };
    if (const std::size_t* const known = messages_.Find(hash_of(message), same)) {
      if (trace_.messages[*known].model.empty()) trace_.messages[*known].model = model;
      return *known;
    }
    trace_.messages.push_back(std::move(message));
    messages_.Insert(index, [&](std::size_t number) { return hash_of(trace_.messages[number]); });
    return index;
  }
  trace_.messages.push_back({id, model, agent, {}});
  return index;
}

void TraceBuilder::NoteModel(const std::string& model) {
  if (model.empty() || model == "<synthetic>") return;
  // "gemma3" is the same model as an earlier "ollama/gemma3".
  const auto same = [&](const std::string& known) { return known == model || known.ends_with("/" + model); };
  if (std::any_of(trace_.models.begin(), trace_.models.end(), same)) return;
  constexpr std::size_t kMaxModels = 200;
  if (trace_.models.size() < kMaxModels) {
    trace_.models.push_back(model);
  } else {
    NoteCaveat("more than 200 models; the others are not listed");
  }
}

void TraceBuilder::NoteSubagent(const std::string& id, const std::string& name, const std::string& call_id) {
  const auto same = [&](std::size_t number) { return trace_.subagents[number].id == id; };
  if (const std::size_t* const number = subagents_.Find(SeedFromText(id), same)) {
    Subagent& known = trace_.subagents[*number];
    if (known.name.empty()) known.name = name;
    if (known.call_id.empty()) known.call_id = call_id;
    return;
  }
  trace_.subagents.push_back({id, name, call_id});
  subagents_.Insert(trace_.subagents.size() - 1,
                    [&](std::size_t number) { return SeedFromText(trace_.subagents[number].id); });
}

void TraceBuilder::PromoteOnlyAgent() {
  std::string only;
  for (const Event& event : trace_.events) {
    const bool said = event.kind == EventKind::kUser || event.kind == EventKind::kAssistant ||
                      event.kind == EventKind::kReasoning || event.kind == EventKind::kToolCall;
    if (event.agent.empty() ? said : !only.empty() && event.agent != only) return;
    if (only.empty()) only = event.agent;
  }
  if (only.empty()) return;
  bool has_request = false;
  for (Event& event : trace_.events) {
    if (event.agent.empty()) continue;
    event.agent.clear();
    has_request = has_request || event.kind == EventKind::kAssistant || event.kind == EventKind::kToolCall;
    if (event.kind == EventKind::kSystem && !std::exchange(has_request, true)) event.kind = EventKind::kUser;
  }
  for (ApiMessage& message : trace_.messages) {
    if (message.agent != only) continue;
    message.agent.clear();
    NoteModel(message.model);
  }
  std::erase_if(trace_.subagents, [&](const Subagent& subagent) { return subagent.id == only; });
  NoteCaveat("the recording is of one subagent, shown as a session of its own");
}

void TraceBuilder::NoteSkill(const std::string& name, const std::string& how, std::size_t event) {
  trace_.skills.push_back({name, how, event});
}

void TraceBuilder::NoteUnknown(std::string_view kind, const Json& record, std::size_t line) {
  // A damaged file may have a new kind in every record; this keeps the list short.
  constexpr std::size_t kMaxKinds = 200;
  std::string name = kind.empty() ? "(no type)" : CutToColumns(ReplaceInvalidUtf8(kind), 60);
  if (trace_.unknown_records.size() >= kMaxKinds && trace_.unknown_records.count(name) == 0) name = "(others)";
  ++trace_.unknown_records[name];
  if (record.is_null()) return;
  EventContext stamp;
  stamp.line = line;
  Add(stamp, EventKind::kUnknown, DumpJson(record));
}

void TraceBuilder::NoteProblem(std::size_t line, std::string message) {
  constexpr std::size_t kMaxProblems = 1000;
  if (trace_.problems.size() < kMaxProblems) trace_.problems.push_back({line, std::move(message)});
}

void TraceBuilder::NoteCaveat(const std::string& caveat) {
  if (std::find(trace_.caveats.begin(), trace_.caveats.end(), caveat) == trace_.caveats.end()) {
    trace_.caveats.push_back(caveat);
  }
}

void TraceBuilder::NoteTime(const std::optional<std::int64_t>& time_ms) {
  if (!time_ms) return;
  trace_.first_ms = std::min(trace_.first_ms.value_or(*time_ms), *time_ms);
  trace_.last_ms = std::max(trace_.last_ms.value_or(*time_ms), *time_ms);
}

bool TraceBuilder::IsNew(std::string_view identity) {
  const std::size_t hash = std::min(SeedFromText(identity), std::uint64_t{kNoIndex - 1});
  if (identities_.Find(hash, [&](std::size_t known) { return known == hash; }) != nullptr) return false;
  identities_.Insert(hash, [](std::size_t known) { return known; });
  return true;
}

void TraceBuilder::NoteCall(std::size_t index) {
  const auto hash_of = [&](std::size_t number) { return SeedFromText(trace_.events[number].call_id); };
  const std::string& id = trace_.events[index].call_id;
  if (std::size_t* const known =
          calls_.Find(hash_of(index), [&](std::size_t number) { return trace_.events[number].call_id == id; })) {
    *known = index;
  } else {
    calls_.Insert(index, hash_of);
  }
}

std::size_t TraceBuilder::FindCall(const std::string& call_id) {
  const auto same = [&](std::size_t number) { return trace_.events[number].call_id == call_id; };
  const std::size_t* const found = calls_.Find(SeedFromText(call_id), same);
  return found == nullptr ? kNoIndex : *found;
}

std::size_t TraceBuilder::FindUnanswered(const std::string& agent) const {
  // Calls without ids are answered before the next ones are made, so a short look back is enough.
  constexpr std::size_t kLookBack = 256;
  std::size_t found = kNoIndex;
  const std::size_t from = trace_.events.size() > kLookBack ? trace_.events.size() - kLookBack : 0;
  for (std::size_t i = trace_.events.size(); i > from; --i) {
    const Event& event = trace_.events[i - 1];
    if (event.agent != agent) continue;
    if (event.kind == EventKind::kUser) break;
    if (event.kind == EventKind::kToolCall && event.partner == kNoIndex) found = i - 1;
  }
  return found;
}

Trace TraceBuilder::Finish() {
  // A skill that could not be loaded was not used.
  std::erase_if(trace_.skills, [&](const UsedSkill& use) {
    if (use.event >= trace_.events.size()) return false;
    const std::size_t result = trace_.events[use.event].partner;
    if (trace_.events[use.event].kind != EventKind::kToolCall || result == kNoIndex) return false;
    const CallStatus status = trace_.events[result].status;
    return status != CallStatus::kOk && status != CallStatus::kUnknown;
  });
  return std::move(trace_);
}

}  // namespace upskill
