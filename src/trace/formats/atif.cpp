// SPDX-License-Identifier: Apache-2.0
// ATIF (Agent Trajectory Interchange Format) 1.0 to 1.7, of Harbor and fast-agent.
#include <algorithm>
#include <utility>

#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// `prompt_tokens` includes `cached_tokens`.
TokenUsage AtifUsage(const Json& metrics, const char* prompt, const char* cached, const char* completion) {
  TokenUsage usage;
  usage.cache_read = NumberAt(metrics, cached);
  if (const auto input = NumberAt(metrics, prompt)) usage.input = std::max(0LL, *input - usage.cache_read.value_or(0));
  usage.output = NumberAt(metrics, completion);
  return usage;
}

class AtifReader : public RecordReader {
 public:
  explicit AtifReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    const Json& agent = Member(record, "agent");
    builder_.SetSession(StringAt(record, "session_id"));
    builder_.SetAgent(StringAt(agent, "name"));
    builder_.SetAgentVersion(StringAt(agent, "version"));
    builder_.NoteModel(StringAt(agent, "model_name"));
    AddSteps(record, "", line);
    const Json& totals = Member(record, "final_metrics");
    // The totals may already include the subagents, so these are never added.
    if (NumberAt(totals, "total_prompt_tokens") || NumberAt(totals, "total_completion_tokens")) {
      builder_.SetSessionUsage(
          AtifUsage(totals, "total_prompt_tokens", "total_cached_tokens", "total_completion_tokens"));
    }
    builder_.SetCost(Member(totals, "total_cost_usd"));
    AddSubagents(record, line);
    if (const std::string next = StringAt(record, "continued_trajectory_ref"); !next.empty())
      builder_.NoteCaveat("the session goes on in " + next);
  }

 private:
  void AddSubagents(Json& record, std::size_t line) {
    Json* const children = FindMember(record, "subagent_trajectories");
    if (children == nullptr || !children->is_array()) return;
    for (Json& child : *children) {
      std::string id = StringAt(child, "trajectory_id");
      if (id.empty()) id = StringAt(child, "session_id");
      if (id.empty()) id = "subagent";
      builder_.NoteSubagent(id, StringAt(Member(child, "agent"), "name"), "");
      AddSteps(child, id, line);
      AddSubagents(child, line);
    }
  }

  void AddSteps(Json& trajectory, const std::string& agent, std::size_t line) {
    Json* const steps = FindMember(trajectory, "steps");
    if (steps == nullptr || !steps->is_array()) return;
    const std::string model = StringAt(Member(trajectory, "agent"), "model_name");
    // Of a session that another file continues, the first steps are copies: its request and a summary.
    has_own_request_ = std::any_of(steps->begin(), steps->end(), [](const Json& step) {
      return StringAt(step, "source") == "user" && Member(step, "is_copied_context") != true;
    });
    for (Json& step : *steps) AddStep(step, agent, model, line);
  }

  void AddStep(Json& step, const std::string& agent, const std::string& default_model, std::size_t line) {
    if (!step.is_object()) {
      builder_.NoteUnknown("step that is not an object", step, line);
      return;
    }
    if (Member(step, "is_copied_context") == true) {
      AddCopiedStep(step, agent, line);
      return;
    }
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(step, "timestamp");
    stamp.agent = agent;
    // Harbor's recordings of Claude Code have the steps of subagents among those of the main agent.
    if (Member(Member(step, "extra"), "is_sidechain") == true && agent.empty()) {
      stamp.agent = "sidechain";
      builder_.NoteSubagent(stamp.agent, "", "");
    }
    const std::string source = StringAt(step, "source");
    Json* const message = FindMember(step, "message");
    std::string text = message == nullptr ? std::string() : TakeText(*message);
    if (source == "user") {
      builder_.Add(stamp, stamp.agent.empty() ? EventKind::kUser : EventKind::kSystem, std::move(text));
    } else if (source == "agent") {
      const std::string model = StringAt(step, "model_name");
      stamp.message = builder_.Message("", stamp.agent, model.empty() ? default_model : model);
      builder_.SetUsage(stamp.message,
                        AtifUsage(Member(step, "metrics"), "prompt_tokens", "cached_tokens", "completion_tokens"));
      builder_.Add(stamp, EventKind::kReasoning, TakeString(step, "reasoning_content"));
      builder_.Add(stamp, EventKind::kAssistant, std::move(text));
      AddCalls(step, stamp);
    } else {
      builder_.Add(stamp, EventKind::kSystem, std::move(text));
    }
    AddObservation(step, stamp);
  }

  // Calls and usage of copied steps are counted where they first occurred. What was said is kept if this file alone
  // would not tell what was asked.
  void AddCopiedStep(Json& step, const std::string& agent, std::size_t line) {
    Json* const message = FindMember(step, "message");
    if (has_own_request_ || message == nullptr) return;
    EventContext stamp;
    stamp.line = line;
    stamp.time_ms = TimeAt(step, "timestamp");
    stamp.agent = agent;
    const bool asked = StringAt(step, "source") == "user" && agent.empty() && !std::exchange(has_copied_request_, true);
    builder_.Add(stamp, asked ? EventKind::kUser : EventKind::kSummary, TakeText(*message));
  }

  void AddCalls(Json& step, const EventContext& stamp) {
    Json* const calls = FindMember(step, "tool_calls");
    if (calls == nullptr || !calls->is_array()) return;
    for (Json& call : *calls) {
      Json* const arguments = FindMember(call, "arguments");
      builder_.AddCall(stamp, StringAt(call, "function_name"), StringAt(call, "tool_call_id"),
                       arguments == nullptr ? Json() : std::move(*arguments));
    }
  }

  void AddObservation(Json& step, const EventContext& stamp) {
    Json* const observation = FindMember(step, "observation");
    Json* const results = observation == nullptr ? nullptr : FindMember(*observation, "results");
    if (results == nullptr || !results->is_array()) return;
    const Json& of_step = Member(Member(step, "extra"), "tool_result_is_error");  // of its only call
    for (Json& result : *results) {
      Json* const content = FindMember(result, "content");
      const Json& own = Member(Member(result, "extra"), "is_error");
      const Json& is_error = own.is_boolean() || results->size() > 1 ? own : of_step;
      CallStatus status = CallStatus::kUnknown;
      if (is_error.is_boolean()) status = is_error.get<bool>() ? CallStatus::kError : CallStatus::kOk;
      builder_.AddResult(stamp, StringAt(result, "source_call_id"), content == nullptr ? "" : TakeText(*content),
                         status);
    }
  }

  TraceBuilder& builder_;
  bool has_own_request_ = false;
  bool has_copied_request_ = false;
};

}  // namespace

RecordReaderPtr MakeAtifReader(TraceBuilder& builder) { return std::make_unique<AtifReader>(builder); }

}  // namespace upskill
