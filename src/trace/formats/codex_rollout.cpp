// SPDX-License-Identifier: Apache-2.0
// Codex session files (~/.codex/sessions), with the {timestamp, type, payload} envelope and, before mid 2025, without.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "trace/formats/codex.h"
#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// `input` includes `cached` and `cache_write`.
TokenUsage CodexUsage(const Json& usage) {
  TokenUsage tokens;
  const auto input = NumberAt(usage, "input_tokens");
  tokens.cache_read = NumberAt(usage, "cached_input_tokens");
  tokens.cache_write = NumberAt(usage, "cache_write_input_tokens");
  if (input) tokens.input = std::max(0LL, *input - tokens.cache_read.value_or(0) - tokens.cache_write.value_or(0));
  tokens.output = NumberAt(usage, "output_tokens");
  tokens.reasoning = NumberAt(usage, "reasoning_output_tokens");
  return tokens;
}

// Of two ids of Codex, which begin with their time (UUID version 7).
bool IsEarlier(std::string_view id, std::string_view other) {
  constexpr std::size_t kTime = 13;
  return id.size() > kTime + 1 && id[kTime + 1] == '7' && id.substr(0, kTime) < other.substr(0, kTime);
}

class CodexRolloutReader : public RecordReader {
 public:
  CodexRolloutReader(TraceBuilder& builder, std::string agent) : builder_(builder), agent_(std::move(agent)) {}

  void Add(Json& record, std::size_t line) override {
    if (!record.is_object()) {
      builder_.NoteUnknown("not an object", record, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    stamp.agent = agent_;
    stamp.time_ms = TimeAt(record, "timestamp");
    builder_.NoteTime(stamp.time_ms);
    if (NumberAt(record, "ordinal").value_or(own_history_) < own_history_) return;  // copied from the parent
    Json* const payload = FindMember(record, "payload");
    const std::string type = StringAt(record, "type");
    if (payload == nullptr) {
      AddOldRecord(record, type, stamp);
    } else if (type == "session_meta") {
      NoteSession(*payload);
    } else if (type == "turn_context") {
      const std::string model = StringAt(*payload, "model");
      builder_.NoteModel(model);
      model_ = model;
      copied_ = copied_ && IsEarlier(StringAt(*payload, "turn_id"), builder_.trace().session_id);
    } else if (type == "response_item") {
      AddItem(*payload, stamp);
    } else if (type == "event_msg") {
      AddInterfaceEvent(*payload, stamp);
    } else if (type == "token_usage_record") {
      const std::string response = StringAt(*payload, "response_id");
      if (!copied_ && (response.empty() || builder_.IsNew("response " + response)))
        recorded_usage_.push_back(CodexUsage(Member(*payload, "usage")));
    } else if (type == "compacted") {
      builder_.Add(stamp, EventKind::kSummary, TakeString(*payload, "message"));
    } else if (type != "world_state" && type != "inter_agent_communication_metadata") {
      builder_.NoteUnknown(type, record, line);
    }
  }

  void Finish() override {
    if (!has_items_) AddShown();
    for (const TokenUsage& usage : recorded_usage_.empty() ? counted_usage_ : recorded_usage_)
      builder_.AddSessionUsage(usage);
    for (const auto& [first, end] : rolled_back_) builder_.MarkAbandoned(first, end);
  }

 private:
  // Some versions write only what the interface showed.
  void AddShown() {
    has_scripts_ = true;  // calls are recorded as items alone
    std::string last;
    for (auto& [stamp, kind, text, rolled_back, call] : shown_) {
      RollBack(rolled_back);
      if (!call.is_null()) AddScriptCall(call, StringAt(call, "id"), StatusOfCodexItem(call), stamp);
      if (text.empty() || text == last) continue;  // as an event and as an item
      last = text;
      EventContext answered = stamp;
      if (kind == EventKind::kAssistant) answered.message = builder_.Message("", agent_, model_);
      NoteTurn(builder_.Add(answered, kind, std::move(text)));
    }
  }

  void AddOldRecord(Json& record, const std::string& type, const EventContext& stamp) {
    if (type.empty()) {
      if (record.contains("record_type")) return;
      if (record.contains("id") || record.contains("instructions")) NoteSession(record);
      return;
    }
    AddItem(record, stamp);
  }

  void NoteSession(const Json& meta) {
    records_items_ = records_items_ || StringAt(meta, "history_mode") == "paginated";
    if (own_history_ == 0) own_history_ = NumberAt(meta, "subagent_history_start_ordinal").value_or(0);
    if (!builder_.trace().session_id.empty()) return;  // later ones are those of resumed and forked sessions
    copied_ = !StringAt(meta, "forked_from_id").empty();
    if (copied_)
      builder_.NoteCaveat("begins with a copy of the session that it was forked from, whose tokens aren't counted");
    builder_.SetSession(StringAt(meta, "id"));
    builder_.SetFolder(StringAt(meta, "cwd"));
    builder_.SetAgentVersion(StringAt(meta, "cli_version"));
  }

  void AddItem(Json& item, const EventContext& stamp) {
    has_items_ = true;
    const std::string type = StringAt(item, "type");
    if (type == "message") {
      AddMessage(item, stamp);
    } else if (type == "reasoning") {
      Json* const summary = FindMember(item, "summary");
      if (summary != nullptr) builder_.Add(stamp, EventKind::kReasoning, TakeText(*summary));
    } else if (type == "function_call" || type == "custom_tool_call" || type == "local_shell_call" ||
               type == "web_search_call" || type == "tool_search_call" || type == "image_generation_call") {
      AddCall(type, item, stamp);
    } else if (type == "function_call_output" || type == "custom_tool_call_output" || type == "tool_search_output") {
      AddOutput(item, stamp);
    } else if (type == "agent_message") {
      Json* const content = FindMember(item, "content");
      if (content != nullptr) builder_.Add(stamp, EventKind::kSystem, TakeText(*content));
    } else if (type != "ghost_snapshot") {
      builder_.NoteUnknown("response_item " + type, item, stamp.line);
    }
  }

  void AddMessage(Json& item, EventContext stamp) {
    const std::string role = StringAt(item, "role");
    Json* const content = FindMember(item, "content");
    if (content == nullptr) return;
    if (role == "assistant") {
      stamp.message = builder_.Message("", agent_, model_);
      builder_.Add(stamp, EventKind::kAssistant, TakeText(*content));
      return;
    }
    if (role != "user") {
      builder_.Add(stamp, EventKind::kSystem, TakeText(*content));
      return;
    }
    // The parts of one message may be of both kinds.
    std::string typed;
    std::string injected;
    const auto sort = [&](Json& part) {
      const std::string text = TakeText(part);
      if (text.empty() || text == "[image]" || text.starts_with("<image name=") || text == "</image>") return;
      const std::string_view request = CodexRequest(text);
      std::string& target = request.empty() ? injected : typed;
      if (!target.empty()) target += '\n';
      target += request.empty() ? std::string_view(text) : request;
      // Context that an IDE put before the request.
      if (!request.empty() && request.size() + 2 < text.size())
        injected += text.substr(0, text.size() - request.size());
    };
    if (content->is_array()) {
      for (Json& part : *content) sort(part);
    } else {
      sort(*content);
    }
    builder_.Add(stamp, EventKind::kSystem, std::move(injected));
    // What a subagent is told comes from the main agent.
    NoteTurn(builder_.Add(stamp, agent_.empty() ? EventKind::kUser : EventKind::kSystem, std::move(typed)));
  }

  void AddCall(const std::string& type, Json& item, const EventContext& stamp) {
    std::string name = StringAt(item, "name");
    // Newer versions name the MCP server apart: {"namespace": "mcp__SERVER", "name": …}.
    constexpr std::string_view kOfServer = "mcp__";
    if (const std::string space = StringAt(item, "namespace"); space.starts_with(kOfServer))
      name = space.substr(kOfServer.size()) + "__" + name;
    if (type == "local_shell_call") name = "local_shell";
    if (type == "web_search_call") name = "web_search";
    if (type == "tool_search_call") name = "tool_search";
    if (type == "image_generation_call") name = "image_generation";
    Json arguments;
    for (const char* key : {"arguments", "input", "action", "revised_prompt"}) {
      if (Json* const member = FindMember(item, key); member != nullptr && arguments.is_null())
        arguments = std::move(*member);
    }
    std::string call_id = StringAt(item, "call_id");
    if (type == "custom_tool_call" && name == "exec" && arguments.is_string()) {
      has_scripts_ = true;
      script_id_ = call_id;
      script_ = records_items_ ? "" : arguments.get<std::string>();
    }
    // A search by the service has no separate output; its status is part of the call.
    const bool answers_itself = type == "web_search_call" || type == "image_generation_call";
    const std::string status = StringAt(item, "status");
    const std::size_t call = builder_.AddCall(stamp, std::move(name), std::move(call_id), std::move(arguments));
    if (answers_itself && status == "failed") {
      builder_.AddResult(stamp, builder_.trace().events[call].call_id, "", CallStatus::kError);
    }
  }

  void AddOutput(Json& item, const EventContext& stamp) {
    Json* output = FindMember(item, "output");
    if (output == nullptr) output = FindMember(item, "tools");
    CodexOutput taken;
    if (output != nullptr) taken = TakeCodexOutput(*output);
    const std::string call_id = StringAt(item, "call_id");
    const auto ended = ended_.extract(call_id);
    if (!ended.empty() && taken.status == CallStatus::kUnknown) taken.status = ended.mapped();
    if (call_id == script_id_ && !script_.empty()) AddUnrecordedCalls(taken.text, stamp);
    builder_.AddResult(stamp, call_id, std::move(taken.text), taken.status);
  }

  void AddInterfaceEvent(Json& event, const EventContext& stamp) {
    const std::string type = StringAt(event, "type");
    if (type == "token_count") {
      AddTokenCount(Member(event, "info"));
    } else if (type == "error" || type == "stream_error") {
      builder_.Add(stamp, EventKind::kSystem, "error: " + TakeString(event, "message"));
    } else if (type == "turn_aborted") {
      builder_.Add(stamp, EventKind::kSystem, "turn aborted: " + StringAt(event, "reason"));
    } else if (type == "user_message") {
      shown_.push_back({stamp, EventKind::kUser, std::string(CodexRequest(TakeString(event, "message")))});
    } else if (type == "agent_message") {
      shown_.push_back({stamp, EventKind::kAssistant, TakeString(event, "message")});
    } else if (type == "agent_reasoning") {
      shown_.push_back({stamp, EventKind::kReasoning, TakeString(event, "text")});
    } else if (type == "sub_agent_activity" || type.rfind("collab_agent_spawn", 0) == 0) {
      std::string id = StringAt(event, "agent_thread_id");
      if (id.empty()) id = StringAt(event, "new_thread_id");
      if (!id.empty()) builder_.NoteSubagent(id, StringAt(event, "agent_path"), StringAt(event, "call_id"));
    } else if (type == "exec_command_end" || type == "mcp_tool_call_end" || type == "patch_apply_end") {
      NoteCallEnd(event, StringAt(event, "call_id"), stamp);
    } else if (type == "item_completed") {
      Json* const item = FindMember(event, "item");
      if (item != nullptr) NoteItem(*item, stamp);
    } else if (type == "thread_rolled_back") {
      const long long turns = NumberAt(event, "num_turns").value_or(0);
      RollBack(turns);
      shown_.push_back({stamp, EventKind::kUser, "", turns});
    } else if (!IsQuiet(type)) {
      builder_.NoteUnknown("event_msg " + type, event, stamp.line);
    }
    if (has_items_) shown_.clear();
  }

  void NoteItem(Json& item, const EventContext& stamp) {
    const std::string type = StringAt(item, "type");
    const EventKind kind = type == "UserMessage"    ? EventKind::kUser
                           : type == "AgentMessage" ? EventKind::kAssistant
                           : type == "Reasoning"    ? EventKind::kReasoning
                                                    : EventKind::kToolCall;
    if (kind == EventKind::kToolCall && has_items_) {
      NoteCallEnd(item, StringAt(item, "id"), stamp);
    } else if (kind == EventKind::kToolCall) {
      shown_.push_back({stamp, kind, "", 0, std::move(item)});
    } else if (Json* const text = FindMember(item, kind == EventKind::kReasoning ? "summary_text" : "content")) {
      shown_.push_back({stamp, kind, TakeText(*text)});
    }
  }

  // Interface events tell more reliably than the output's text how a call ended. A call that a script made ("code
  // mode": `await tools.exec_command({cmd: …})`) is recorded by them alone.
  void NoteCallEnd(Json& item, const std::string& id, const EventContext& stamp) {
    const CallStatus status = StatusOfCodexItem(item);
    const std::size_t call = builder_.FindCall(id);
    if (call == kNoIndex) {
      if (has_scripts_) AddScriptCall(item, id, status, stamp);
      return;
    }
    const std::deque<Event>& events = builder_.trace().events;
    const std::size_t result = events[call].partner;
    if (result == kNoIndex) {
      ended_[id] = status;
    } else if (events[result].status == CallStatus::kUnknown) {
      builder_.SetStatus(result, status);
    }
  }

  void AddScriptCall(Json& item, const std::string& id, CallStatus status, const EventContext& stamp) {
    const std::string source = StringAt(item, "source");
    if (id.empty() || source == "user_shell" || source == "unified_exec_interaction") return;
    std::string tool;
    Json arguments;
    Json* const invocation = FindMember(item, "invocation");  // of an interface event about a server's tool
    Json& called = invocation != nullptr ? *invocation : item;
    if (Json* const command = FindMember(item, "command"); command != nullptr) {
      tool = "exec_command";
      arguments["cmd"] = std::move(*command);
    } else if (const Json& changes = Member(item, "changes"); changes.is_object()) {
      tool = "apply_patch";
      arguments = PatchOfChanges(changes);
    } else if (tool = StringAt(called, "tool"); !tool.empty()) {
      if (const std::string server = StringAt(called, "server"); !server.empty()) tool = server + "__" + tool;
      if (Json* const given = FindMember(called, "arguments"); given != nullptr) arguments = std::move(*given);
    } else {
      return;
    }
    std::string output;
    for (const char* key : {"aggregated_output", "stdout", "stderr", "result", "content_items", "error"}) {
      Json* part = FindMember(item, key);
      if (part == nullptr || !output.empty()) continue;
      if (Json* const returned = FindMember(*part, "Ok"); returned != nullptr) part = returned;
      output = part->contains("message") ? StringAt(*part, "message") : TakeText(*part);
    }
    builder_.AddCall(stamp, std::move(tool), id, std::move(arguments));
    builder_.AddResult(stamp, id, std::move(output), status);
    script_.clear();
  }

  // For versions that record only the script and its output. A patch that fails ends the script; what became of a
  // command is known if it is the only one and the script printed its exit code.
  void AddUnrecordedCalls(std::string_view output, const EventContext& stamp) {
    static const RE2 code_pattern(R"re(exit_code\\?["']?\s*:\s*(\d+))re");
    std::string code;
    RE2::PartialMatch(re2::StringPiece(output.data(), output.size()), code_pattern, &code);
    std::vector<ScriptedCall> calls = CallsInScript(std::exchange(script_, {}));
    const bool failed = output.starts_with("Script failed");
    if (failed && calls.size() > 1) calls.resize(1);  // the others may not have been made
    const auto commands =
        std::count_if(calls.begin(), calls.end(), [](const ScriptedCall& call) { return call.tool == "exec_command"; });
    for (std::size_t i = 0; i < calls.size(); ++i) {
      CallStatus status = CallStatus::kUnknown;
      if (calls[i].tool == "apply_patch") {
        if (!output.starts_with("Script running")) status = failed ? CallStatus::kError : CallStatus::kOk;
      } else if (commands == 1 && !code.empty()) {
        status = code == "0" ? CallStatus::kOk : CallStatus::kError;
      }
      const std::string id = fmt::format("{}/{}", script_id_, i + 1);
      builder_.AddCall(stamp, std::move(calls[i].tool), id, std::move(calls[i].arguments));
      builder_.AddResult(stamp, id, "", status);
    }
  }

  void NoteTurn(std::size_t event) {
    if (event != kNoIndex && builder_.trace().events[event].kind == EventKind::kUser) turns_.push_back(event);
  }

  // The user took back the last turns.
  void RollBack(long long turns) {
    std::size_t first = kNoIndex;
    for (; turns > 0 && !turns_.empty(); --turns) {
      first = turns_.back();
      turns_.pop_back();
    }
    if (first == kNoIndex) return;
    while (!rolled_back_.empty() && rolled_back_.back().first >= first) rolled_back_.pop_back();
    rolled_back_.emplace_back(first, builder_.trace().events.size());
  }

  // Totals restart within a file and events are repeated, so the figures of each call are added once instead.
  void AddTokenCount(const Json& info) {
    if (!info.is_object()) return;
    const std::string total = DumpJson(Member(info, "total_token_usage"));
    if (total == last_total_) return;
    last_total_ = total;
    if (copied_) return;
    counted_usage_.push_back(CodexUsage(Member(info, "last_token_usage")));
  }

  static bool IsQuiet(std::string_view type) {
    constexpr std::array<std::string_view, 24> kQuiet = {"task_started",
                                                         "task_complete",
                                                         "context_compacted",
                                                         "entered_review_mode",
                                                         "exited_review_mode",
                                                         "thread_settings_applied",
                                                         "web_search_end",
                                                         "web_search_begin",
                                                         "item_started",
                                                         "image_generation_end",
                                                         "thread_goal_updated",
                                                         "thread_name_updated",
                                                         "undo_completed",
                                                         "undo_started",
                                                         "exec_command_begin",
                                                         "mcp_tool_call_begin",
                                                         "patch_apply_begin",
                                                         "agent_reasoning_section_break",
                                                         "agent_reasoning_raw_content",
                                                         "session_configured",
                                                         "turn_diff",
                                                         "plan_update",
                                                         "background_event",
                                                         "view_image_tool_call"};
    for (const std::string_view quiet : kQuiet) {
      if (type == quiet) return true;
    }
    return type.rfind("collab_", 0) == 0;
  }

  struct Shown {
    EventContext stamp;
    EventKind kind;
    std::string text;
    long long rolled_back = 0;  // turns, instead of a text
    Json call;                  // an item that is a call, instead of a text
  };

  TraceBuilder& builder_;
  std::string agent_;          // the subagent whose file this is
  long long own_history_ = 0;  // the ordinal of a subagent's first record of its own
  bool copied_ = false;        // from the session that this one was forked from
  std::string model_;
  // By calls of the model: as the interface showed them, and in newer versions as records.
  std::vector<TokenUsage> counted_usage_;
  std::vector<TokenUsage> recorded_usage_;
  std::string last_total_;
  bool has_items_ = false;
  bool has_scripts_ = false;
  bool records_items_ = false;               // the recording has all items of the turns
  std::string script_id_;                    // of the last script
  std::string script_;                       // its source, until a call of it turns out to be recorded
  std::map<std::string, CallStatus> ended_;  // calls whose output follows, by id
  std::vector<std::size_t> turns_;           // where those that weren't rolled back begin
  std::vector<std::pair<std::size_t, std::size_t>> rolled_back_;  // events: first, end
  std::vector<Shown> shown_;  // interface events; discarded at the first item, which they would repeat
};

}  // namespace

RecordReaderPtr MakeCodexRolloutReader(TraceBuilder& builder, const std::string& subagent) {
  return std::make_unique<CodexRolloutReader>(builder, subagent);
}

}  // namespace upskill
