// SPDX-License-Identifier: Apache-2.0
// SWE-agent trajectories (.traj): `history` has the messages; `trajectory` is used if there is no history, and for its
// last step if the history lacks it: a run that was stopped may have recorded the step only there.
#include <algorithm>
#include <cstddef>

#include "trace/formats/chat_message.h"
#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

class SweAgentReader : public RecordReader {
 public:
  explicit SweAgentReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    if (Json* const attempts = FindMember(record, "attempts"); attempts != nullptr && attempts->is_array()) {
      for (Json& attempt : *attempts) AddRun(attempt, line);
      AddInfo(Member(record, "info"));
      return;
    }
    AddRun(record, line);
  }

 private:
  void AddRun(Json& record, std::size_t line) {
    Json* const history = FindMember(record, "history");
    Json* const trajectory = FindMember(record, "trajectory");
    EventContext stamp;
    stamp.line = line;
    if (history != nullptr && history->is_array() && !history->empty()) {
      const std::size_t answers = AnswersIn(*history);
      for (Json& item : *history) AddItem(item, stamp);
      if (trajectory != nullptr && trajectory->is_array() && trajectory->size() == answers + 1 &&
          StringAt(history->back(), "role") != "assistant")
        AddStep(trajectory->back(), stamp);
    } else if (trajectory != nullptr && trajectory->is_array()) {
      for (Json& step : *trajectory) AddStep(step, stamp);
    }
    AddInfo(Member(record, "info"));
  }

  // Messages of the agent, demonstrations apart.
  static std::size_t AnswersIn(const Json& history) {
    return static_cast<std::size_t>(std::count_if(history.begin(), history.end(), [](const Json& item) {
      return StringAt(item, "role") == "assistant" && Member(item, "is_demo") != true &&
             StringAt(item, "message_type") != "demonstration";
    }));
  }

  void AddItem(Json& item, const EventContext& stamp) {
    if (!item.is_object() || Member(item, "is_demo") == true) return;
    const std::string role = StringAt(item, "role");
    const std::string kind = StringAt(item, "message_type");
    if (kind == "demonstration") return;
    if (role == "user" && has_call_without_id_) {
      // Without function calling, an observation is a message of the user.
      AddObservation(TakeField(item, "content"), "", stamp);
      return;
    }
    const bool first_request = role == "user" && !has_request_;
    if (role == "user" && !first_request && kind == "observation") {
      builder_.Add(stamp, EventKind::kSystem, TakeField(item, "content"));
      return;
    }
    has_request_ = has_request_ || role == "user";
    const std::string action = StringAt(item, "action");
    const bool text_action = role == "assistant" && !Member(item, "tool_calls").is_array() && !Trim(action).empty();
    const std::size_t before = builder_.trace().events.size();
    if (!AddChatMessage(builder_, item, stamp)) builder_.NoteUnknown("role " + role, item, stamp.line);
    const std::deque<Event>& events = builder_.trace().events;
    if (text_action) {
      builder_.AddCall(stamp, "action", "", Json::object({{"command", std::string(Trim(action))}}));
      has_call_without_id_ = true;
    } else if (role == "tool" && events.size() > before) {
      NoteFailure(before);
    }
  }

  static std::string TakeField(Json& object, const char* key) {
    Json* const field = FindMember(object, key);
    return field == nullptr ? std::string() : TakeText(*field);
  }

  void AddObservation(std::string text, const std::string& id, const EventContext& stamp) {
    has_call_without_id_ = false;
    NoteFailure(builder_.AddResult(stamp, id, std::move(text), CallStatus::kUnknown));
  }

  // The format has no error flag; these are the environment's messages, with which an observation begins. Anywhere else
  // they are text that a command printed.
  void NoteFailure(std::size_t result) {
    const Event& event = builder_.trace().events[result];
    if (event.kind != EventKind::kToolResult || event.status != CallStatus::kUnknown) return;
    std::string_view text = Trim(event.text);
    if (text.starts_with("OBSERVATION:")) text = Trim(text.substr(std::string_view("OBSERVATION:").size()));
    for (const std::string_view words :
         {"EXECUTION TIMED OUT", "COMMAND FAILED TO EXECUTE", "Your proposed edit has introduced new syntax error",
          "Your command was not executed"}) {
      if (text.starts_with(words)) builder_.SetStatus(result, CallStatus::kError);
    }
  }

  void AddStep(Json& step, EventContext stamp) {
    if (!step.is_object()) return;
    stamp.message = builder_.Message("", "", "");
    std::string response = TakeField(step, "response");
    builder_.Add(stamp, EventKind::kAssistant, response.empty() ? TakeField(step, "thought") : std::move(response));
    const std::string action = StringAt(step, "action");
    if (Trim(action).empty()) return;
    builder_.AddCall(stamp, "action", "", Json::object({{"command", std::string(Trim(action))}}));
    AddObservation(TakeField(step, "observation"), "", stamp);
  }

  void AddInfo(const Json& info) {
    if (!info.is_object()) return;
    builder_.SetAgentVersion(StringAt(info, "swe_agent_version"));
    const Json& stats = Member(info, "model_stats");
    builder_.SetCost(Member(stats, "instance_cost"));
    const auto sent = NumberAt(stats, "tokens_sent");
    const auto received = NumberAt(stats, "tokens_received");
    if (sent || received) {
      TokenUsage usage;
      usage.input = sent;
      usage.output = received;
      builder_.SetSessionUsage(usage);
      builder_.NoteCaveat("input tokens are totals of the run, including cached ones");
    }
    const std::string status = StringAt(info, "exit_status");
    if (status.empty()) return;
    builder_.Add({}, EventKind::kSystem, "exit status: " + status);
    if (status != "submitted") builder_.SetSucceeded(false);
  }

  TraceBuilder& builder_;
  bool has_request_ = false;
  bool has_call_without_id_ = false;
};

}  // namespace

RecordReaderPtr MakeSweAgentReader(TraceBuilder& builder) { return std::make_unique<SweAgentReader>(builder); }

}  // namespace upskill
