// SPDX-License-Identifier: Apache-2.0
// mini-swe-agent trajectories: chat messages in which an action is a fenced block of the answer and its output a user
// message, or (since 2.0) with tool calls.
#include <utility>

#include "trace/formats/chat_message.h"
#include "trace/formats/claude_text.h"
#include "trace/formats/readers.h"
#include "util/text.h"

namespace upskill {
namespace {

// What the agent is told when its command took too long.
bool SaysTimeout(std::string_view text) {
  return text.starts_with("The last ") && text.find(" timed out and has been killed") != std::string_view::npos;
}

// The only fenced block with a command of an answer.
struct Action {
  std::string command;
  std::size_t begin = 0;  // of the block, fences included
  std::size_t end = 0;
};

// No command if there is no such block or several: the agent runs none of those.
Action ActionOf(std::string_view text) {
  for (const std::string_view fence : {"```mswea_bash_command\n", "```bash\n"}) {
    const std::size_t begin = text.find(fence);
    if (begin == std::string_view::npos) continue;
    const std::size_t from = begin + fence.size();
    if (text.find(fence, from) != std::string_view::npos) return {};
    constexpr std::string_view kClosing = "\n```";
    const std::size_t end = text.find(kClosing, from);
    if (end == std::string_view::npos) return {std::string(text.substr(from)), begin, text.size()};
    return {std::string(text.substr(from, end - from)), begin, end + kClosing.size()};
  }
  return {};
}

class MiniSweAgentReader : public RecordReader {
 public:
  explicit MiniSweAgentReader(TraceBuilder& builder) : builder_(builder) {}

  void Add(Json& record, std::size_t line) override {
    EventContext stamp;
    stamp.line = line;
    AddInfo(Member(record, "info"));
    if (Json* const messages = FindMember(record, "messages"); messages != nullptr && messages->is_array()) {
      for (std::size_t i = 0; i < messages->size(); ++i) {
        refused_ = i + 1 < messages->size() && IsFormatError((*messages)[i + 1]);
        AddMessage((*messages)[i], stamp);
      }
    } else {
      AddMessage(record, stamp);
    }
  }

 private:
  void AddInfo(const Json& info) {
    if (!info.is_object()) return;
    builder_.SetAgentVersion(StringAt(info, "mini_version"));
    builder_.SetCost(Member(Member(info, "model_stats"), "instance_cost"));
    submission_ = StringAt(info, "submission");
    const std::string status = StringAt(info, "exit_status");
    if (!status.empty() && ToLowerAscii(status) != "submitted") builder_.SetSucceeded(false);
  }

  void AddMessage(Json& message, EventContext stamp) {
    if (!message.is_object()) {
      builder_.NoteUnknown("not an object", message, stamp.line);
      return;
    }
    const std::string role = StringAt(message, "role");
    const Json extra = Member(message, "extra");
    stamp.time_ms = TimeAt(extra, "timestamp");
    if (role == "assistant") {
      AddAssistant(message, extra, stamp);
    } else if (role == "exit") {
      builder_.Add(stamp, EventKind::kSystem, "exit status: " + StringAt(extra, "exit_status"));
    } else if (role == "tool") {
      const std::size_t result = builder_.trace().events.size();
      AddChatMessage(builder_, message, stamp);
      SetStatus(result, NumberAt(extra, "returncode"));
    } else if (role == "user" && IsObservation(message)) {
      AddObservation(message, extra, stamp);
    } else if (role == "user" && std::exchange(has_request_, true) && !IsTyped(message)) {
      if (Json* const content = FindMember(message, "content"); content != nullptr)
        builder_.Add(stamp, EventKind::kSystem, TakeText(*content));
    } else if (!AddChatMessage(builder_, message, stamp)) {
      builder_.NoteUnknown("role " + role, message, stamp.line);
    }
  }

  void AddAssistant(Json& message, const Json& extra, EventContext stamp) {
    const Json& response = Member(extra, "response");
    const std::string model = StringAt(response, "model");
    stamp.message = builder_.Message("", "", model);
    builder_.SetUsage(stamp.message, ChatUsageOf(Member(response, "usage")));
    const bool has_calls = Member(message, "tool_calls").is_array() && !Member(message, "tool_calls").empty();
    Json* const content = FindMember(message, "content");
    Action action;
    if (content != nullptr && content->is_string() && !refused_)
      action = ActionOf(content->get_ref<const std::string&>());
    if (const Json& actions = Member(extra, "actions"); actions.is_array() && !actions.empty()) {
      action.command = StringAt(actions[0], "command");
    }
    // The call has the block's text.
    if (content != nullptr && !has_calls && action.end > action.begin)
      content->get_ref<std::string&>().erase(action.begin, action.end - action.begin);
    AddChatMessage(builder_, message, stamp);
    if (!has_calls && !action.command.empty()) {
      builder_.AddCall(stamp, "bash", "", Json::object({{"command", std::move(action.command)}}));
    }
  }

  bool IsObservation(const Json& message) const {
    const std::string text = StringAt(message, "content");
    const bool marked = text.starts_with("<returncode>") || text.starts_with("<output>") ||
                        text.starts_with("Observation:") || SaysTimeout(text) ||
                        (!submission_.empty() && text == submission_);
    const std::size_t call = builder_.FindUnanswered("");
    if (marked || call == kNoIndex) return marked;
    if (Member(Member(message, "extra"), "returncode").is_number()) return true;
    // What the last command submits is its output, without a return code.
    return ContainsAny(builder_.trace().events[call].command,
                       {"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT"});
  }

  // After the request, the program speaks in the user's name, too. What the user says then follows these words.
  static bool IsTyped(const Json& message) {
    return StringAt(Member(message, "extra"), "interrupt_type").starts_with("User") ||
           ContainsAny(StringAt(message, "content").substr(0, 100),
                       {"Interrupted by user: ", "The user rejected your command",
                        "The user added a new task: ", "User command: "});
  }

  // What the agent is told when its answer has no action or several.
  bool IsFormatError(const Json& message) const {
    const std::string text = StringAt(message, "content");
    return StringAt(message, "role") == "user" &&
           (text.starts_with("Please always provide EXACTLY ONE action") ||
            StringAt(Member(message, "extra"), "interrupt_type") == "FormatError");
  }

  void AddObservation(Json& message, const Json& extra, const EventContext& stamp) {
    std::string text = TakeString(message, "content");
    const std::deque<Event>& events = builder_.trace().events;
    // The configuration may have actions of another form: then the answer is the action.
    if (builder_.FindUnanswered("") == kNoIndex && !events.empty() && events.back().kind == EventKind::kAssistant)
      builder_.AddCall(stamp, "bash", "", Json::object({{"command", events.back().text}}));
    auto code = NumberAt(extra, "returncode");
    if (!code && SaysTimeout(text)) code = 1;
    const std::string_view written = TextInTag(text, "returncode");
    if (!code && !written.empty()) code = written == "0" ? 0 : 1;
    if (const std::string_view output = TextInTag(text, "output"); !output.empty()) text = std::string(output);
    const std::size_t result = builder_.AddResult(stamp, "", std::move(text), CallStatus::kUnknown);
    SetStatus(result, code);
  }

  void SetStatus(std::size_t result, const std::optional<long long>& code) {
    const std::deque<Event>& events = builder_.trace().events;
    if (!code || result >= events.size() || events[result].kind != EventKind::kToolResult) return;
    builder_.SetStatus(result, *code == 0 ? CallStatus::kOk : CallStatus::kError);
  }

  TraceBuilder& builder_;
  std::string submission_;  // of the run
  bool has_request_ = false;
  bool refused_ = false;  // the agent didn't find one action in the answer
};

}  // namespace

RecordReaderPtr MakeMiniSweAgentReader(TraceBuilder& builder) { return std::make_unique<MiniSweAgentReader>(builder); }

}  // namespace upskill
