// SPDX-License-Identifier: Apache-2.0
#include "program/program_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "trace/load/read_trace.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kShownColumns = 300;

std::string WithLastLine(std::string message, const ProgramRun& run) {
  std::string line = LastLine(run.error, kShownColumns);
  if (line.empty()) line = LastLine(run.output, kShownColumns);
  return line.empty() ? message : fmt::format("{}; the last line that it printed: {}", message, line);
}

bool Failed(CallStatus status) {
  return status == CallStatus::kError || status == CallStatus::kRejected || status == CallStatus::kCancelled;
}

std::string TextForStorage(std::string_view text) {
  return WithoutMiddle(ReplaceInvalidUtf8(text), kMaxTranscriptText);
}

// Programs rename the tools of MCP servers, each in its own way. Gives such a tool the name that it has in the tool
// loop, SERVER_TOOL, and leaves the names of other tools alone.
std::string ToolNameIn(const WorkspaceTask& task, const std::string& tool) {
  std::string_view rest = tool;
  for (const std::string_view prefix : {"mcp__", "mcp_"}) {
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    break;
  }
  for (const ToolServer& server : task.servers) {
    if (!rest.starts_with(server.name)) continue;
    for (const std::string_view joint : {"__", "_", "."}) {
      const std::string_view own = rest.substr(server.name.size());
      if (own.starts_with(joint) && own.size() > joint.size())
        return ReplaceInvalidUtf8(fmt::format("{}_{}", server.name, own.substr(joint.size())));
    }
  }
  return ReplaceInvalidUtf8(tool);
}

Json CallToJson(const Trace& session, const WorkspaceTask& task, const Event& call) {
  Json json = {{"name", ToolNameIn(task, call.tool)}, {"arguments", TextForStorage(call.text)}};
  if (call.partner == kNoIndex || call.partner >= session.events.size()) return json;
  const Event& result = session.events[call.partner];
  if (result.kind != EventKind::kToolResult) return json;
  json["result"] = TextForStorage(result.text);
  if (Failed(result.status)) json["error"] = true;
  return json;
}

// One turn for each answer of the model in the main thread.
Json TranscriptOf(const Trace& session, const WorkspaceTask& task) {
  Json turns = Json::array();
  std::size_t bytes = 0;
  std::optional<std::size_t> message;
  bool after_result = true;
  for (const Event& event : session.events) {
    const bool says = event.kind == EventKind::kAssistant;
    const bool calls = event.kind == EventKind::kToolCall;
    if (event.kind == EventKind::kToolResult) after_result = true;
    if (event.abandoned || !event.agent.empty() || (!says && !calls)) continue;
    const bool same = !turns.empty() && (event.message != kNoIndex ? message == event.message : !after_result);
    Json part = calls ? CallToJson(session, task, event) : Json(TextForStorage(event.text));
    bytes += DumpJson(part).size() + 40;
    if (bytes > kMaxTranscriptBytes) break;
    if (!same) turns.push_back(Json::object());
    Json& turn = turns.back();
    if (calls) {
      turn["calls"].push_back(std::move(part));
    } else {
      turn["text"] = turn.contains("text") ? Json(turn["text"].get<std::string>() + "\n" + part.get<std::string>())
                                           : std::move(part);
    }
    message = event.message;
    after_result = false;
  }
  return turns;
}

// The files of the skill that a call names: by their paths, or SKILL.md by the skill's name. A path counts only with
// the skill's folder in it.
class SkillReading {
 public:
  explicit SkillReading(const SkillFolder& skill) : skill_(skill) {}

  void Take(const Event& call) {
    for (const auto& [name, content] : skill_.files) {
      const std::string path = skill_.name + "/" + name;
      if (call.path.ends_with(path)) read_.insert(name);
      if (call.command.find(path) == std::string::npos) continue;
      // A command that doesn't only show a script probably runs it.
      const bool script = name.starts_with("scripts/");
      const std::string_view first = std::string_view(call.command).substr(0, call.command.find_first_of(" \t\n"));
      const bool shows = first == "cat" || first == "sed" || first == "head" || first == "less";
      (script && !shows ? run_ : read_).insert(name);
    }
  }

  void TakeUse(const std::string& name) {
    if (name == skill_.name) read_.insert("SKILL.md");
  }

  SkillUse Take() const {
    SkillUse use;
    use.always_tokens = static_cast<std::int64_t>(EstimateTokens(skill_.name) + EstimateTokens(skill_.description));
    for (const auto& [name, content] : skill_.files)
      (read_.contains(name) ? use.loaded_tokens : use.unread_tokens) +=
          static_cast<std::int64_t>(EstimateTokens(content));
    use.read.assign(read_.begin(), read_.end());
    use.run.assign(run_.begin(), run_.end());
    return use;
  }

 private:
  const SkillFolder& skill_;
  std::set<std::string> read_;
  std::set<std::string> run_;
};

bool ReadsBody(const Event& call, const SkillFolder& skill) {
  const std::string path = skill.name + "/SKILL.md";
  return call.path.ends_with(path) || call.command.find(path) != std::string::npos;
}

// The other skills that were read, and whether one of them was after `skill`. What only the list of used skills names
// has no place among the calls.
void NoteOthers(const Trace& session, const WorkspaceTask& task, SkillUse& use) {
  const auto note = [&use](const std::string& name) {
    if (std::find(use.others.begin(), use.others.end(), name) == use.others.end()) use.others.push_back(name);
  };
  bool had_read = false;
  for (const Event& event : session.events) {
    if (event.kind != EventKind::kToolCall) continue;
    for (const SkillFolder& other : task.others) {
      if (!ReadsBody(event, other)) continue;
      use.left = use.left || had_read;
      note(other.name);
    }
    had_read = had_read || ReadsBody(event, *task.skill);
  }
  for (const SkillFolder& other : task.others) {
    const bool used = std::any_of(session.skills.begin(), session.skills.end(),
                                  [&](const UsedSkill& one) { return one.name == other.name; });
    if (used) note(other.name);
  }
}

SkillUse SkillUseOf(const Trace& session, const WorkspaceTask& task) {
  const SkillFolder& skill = *task.skill;
  const SkillLoad load = task.load;
  SkillReading reading(skill);
  for (const Event& event : session.events) {
    if (event.kind == EventKind::kToolCall) reading.Take(event);
  }
  for (const UsedSkill& used : session.skills) reading.TakeUse(used.name);
  SkillUse use = reading.Take();
  NoteOthers(session, task, use);
  if (load == SkillLoad::kOnDemand) return use;
  // Its body was in the prompt.
  const auto body = skill.files.find("SKILL.md");
  use.always_tokens = body == skill.files.end() ? 0 : static_cast<std::int64_t>(EstimateTokens(body->second));
  use.unread_tokens = std::max<std::int64_t>(use.unread_tokens - use.always_tokens, 0);
  return use;
}

// As many files as may be stored, without those that no case can name.
FileChanges ChangesOf(const ProgramRun& run, const WorkspaceTask& task) {
  WorkspaceFiles kept;
  std::size_t bytes = 0;
  for (const auto& [name, content] : run.files) {
    if (kept.size() >= kMaxWorkspaceFiles || content.size() > kMaxWorkspaceBytes - bytes) continue;
    bytes += content.size();
    kept.emplace(name, content);
  }
  FileChanges changes = ChangesBetween(task.files, kept);
  if (!run.all_files) changes.removed.clear();
  return changes;
}

std::string LastAssistantText(const Trace& session) {
  for (const Event& event : std::views::reverse(session.events)) {
    if (event.kind == EventKind::kAssistant && event.agent.empty() && !event.abandoned) return event.text;
  }
  return "";
}

// The error of a run whose model didn't answer; nothing if it did.
std::optional<Error> UnansweredOf(const std::string& name, const ProgramRun& run, const ProxyRecord& record) {
  if (record.meter_refusal) return record.meter_refusal;
  const ProxiedRequest* last = nullptr;  // that failed after all that were answered
  for (const ProxiedRequest& request : record.requests) {
    if (!request.error) {
      last = nullptr;
    } else if (request.error->kind != ErrorKind::kCancelled) {
      last = &request;
    }
  }
  if (last != nullptr) {
    Error error = *last->error;
    error.message = fmt::format("{}: {}: {}", name,
                                record.answers == 0 ? "none of its requests to the model was answered"
                                                    : "its last requests to the model were not answered",
                                error.message);
    return error;
  }
  if (record.answers > 0 || run.timed_out) return std::nullopt;
  return Error{
      ErrorKind::kPermanent,
      WithLastLine(fmt::format("{} ended with exit status {} without an answer of its model", name, run.exit_code),
                   run)}
      .Because(ErrorCause::kCommand);
}

}  // namespace

Result<Trace> SessionOf(const ProgramRun& run) {
  const std::pair<const std::string, std::string>* longest = nullptr;
  for (const auto& session : run.sessions) {
    if (longest == nullptr || session.second.size() > longest->second.size()) longest = &session;
  }
  if (longest == nullptr) return Error{ErrorKind::kNotFound, "it left no session"};
  TraceReadOptions options;
  options.max_record_bytes = std::size_t{16} << 20U;
  options.max_document_bytes = std::size_t{16} << 20U;
  return ReadTrace(LineSource::FromText(longest->second, longest->first), options).With("its session can't be read");
}

WorkRecord WorkOf(const Trace& session, const ProgramRun& run, const WorkspaceTask& task) {
  WorkRecord work;
  work.changes = ChangesOf(run, task);
  work.transcript = TranscriptOf(session, task);
  work.turns = static_cast<int>(work.transcript.size());
  const TraceCounts counts = CountTrace(session);
  work.tool_calls = static_cast<int>(counts.tool_calls);
  work.tool_errors = static_cast<int>(counts.tool_errors);
  for (const auto& [tool, calls] : counts.tool_calls_by_name)
    work.tools[ToolNameIn(task, tool)] += static_cast<int>(calls);
  if (task.skill) work.skill = SkillUseOf(session, task);
  return work;
}

Result<ChatResponse> AnswerOfRun(const ProgramJob& job, const ProgramRun& run, const ProxyRecord& record,
                                 const WorkspaceTask& task) {
  Error failure{ErrorKind::kUnavailable, ""};
  failure.used_usd = record.cost_usd.value_or(0.0);
  failure.used_tokens = record.usage.prompt() + record.usage.output;
  const auto failed = [&](const Error& error) {
    failure.kind = error.kind;
    failure.message = error.message;
    failure.retry_after = error.retry_after;
    failure.cause = error.cause;
    return failure;
  };
  const bool limited = !record.limit.empty();
  if (const std::optional<Error> unanswered = UnansweredOf(job.program.name, run, record)) return failed(*unanswered);
  if (run.timed_out && !limited) {
    const double seconds = std::chrono::duration<double>(job.time_limit).count();
    return failed(Error{ErrorKind::kUnavailable,
                        fmt::format("{} had not finished after {:g} s and was ended", job.program.name, seconds)}
                      .Because(ErrorCause::kTimeout));
  }
  ChatResponse response;
  const bool keeps_sessions = job.program.sessions || !job.program.export_command.empty();
  Result<Trace> session = keeps_sessions ? SessionOf(run) : Trace{};
  if (!session) {
    return failed(Error{ErrorKind::kPermanent,
                        WithLastLine(fmt::format("{}: {}", job.program.name, session.error().message), run)}
                      .Because(ErrorCause::kCommand));
  }
  std::string text = run.answer.empty() ? LastAssistantText(*session) : run.answer;
  if (text.empty() && !keeps_sessions) text = run.output;
  response.text = ReplaceInvalidUtf8(text);
  response.usage = record.usage;
  response.cost_usd = record.cost_usd;
  response.served_model = record.served_model;
  response.seconds = run.seconds;
  response.work = WorkOf(*session, run, task);
  response.work->turns = record.turns;
  response.work->limit = record.limit;
  if (limited) response.stop = StopReason::kLength;
  return response;
}

}  // namespace upskill
