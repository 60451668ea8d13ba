// SPDX-License-Identifier: Apache-2.0
// Markdown exports of Cursor and SpecStory, and plain notes.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/formats/claude_text.h"
#include "trace/formats/readers.h"
#include "trace/trace.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// A tool call in a Markdown export of SpecStory.
struct SpecStoryCall {
  std::string tool;
  Json arguments;                     // as far as the export shows them, under the names that Claude Code uses
  std::optional<std::string> result;  // nothing if the export has none
  CallStatus status = CallStatus::kUnknown;
};

constexpr std::string_view kFence = "\n```";
constexpr std::string_view kNextFence = "\n```\n\n```text\n";  // the end of a block before the block of the result

std::string_view From(std::string_view text, std::size_t at) { return text.substr(std::min(at, text.size())); }

// What precedes `end`, which is at the end of the text.
std::string_view Without(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? Trim(text.substr(0, text.size() - end.size())) : text;
}

// The content of a text that is a fenced block; other texts as they are.
std::string WithoutFence(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with("```")) return std::string(text);
  std::string_view inner = From(text, text.find('\n'));
  const std::size_t end = inner.rfind(kFence);
  if (end != std::string_view::npos) inner = inner.substr(0, end);
  return std::string(inner.starts_with('\n') ? inner.substr(1) : inner);
}

// The parts of a call: what precedes the first block, the block of its argument (a program, a file), and the result.
struct CallParts {
  std::string_view head;
  std::optional<std::string> block;
  std::optional<std::string> result;
  bool failed = false;  // the export says so
};

// `body` begins with a line feed. `last`: the argument may itself contain blocks.
CallParts PartsOf(std::string_view body, bool has_block, bool last) {
  CallParts parts;
  for (const std::string_view mark : {"\n**Result:**", "\n**Error:**", "\nResult:\n```text\n"}) {
    const std::size_t at = body.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view before = body.substr(0, at);
    parts.head = before.substr(0, before.find(kFence));
    if (parts.head.size() < before.size()) parts.block = WithoutFence(From(before, parts.head.size()));
    parts.result = WithoutFence(From(body, body.find('\n', at + 1)));
    parts.failed = body.substr(at).starts_with("\n**Error:**");
    return parts;
  }
  parts.head = body.substr(0, body.find(kFence));
  std::string_view rest = From(body, parts.head.size());
  const std::size_t next = last ? rest.rfind(kNextFence) : rest.find(kNextFence);
  if (has_block && next != std::string_view::npos) {
    parts.block = WithoutFence(rest.substr(0, next + kFence.size()));
    rest = rest.substr(next + kFence.size());
  } else if (has_block && !rest.empty() && !rest.starts_with("\n```text")) {
    parts.block = WithoutFence(rest);
    rest = {};
  }
  if (!rest.empty()) parts.result = WithoutFence(rest);
  return parts;
}

// The last line of `head` that is in backticks, which may contain others, without them; `rest`: the lines before it.
std::string QuotedLine(std::string_view head, std::string_view& rest) {
  head = Trim(head);
  const std::size_t begin = head.rfind('\n') == std::string_view::npos ? 0 : head.rfind('\n') + 1;
  const std::string_view line = Trim(head.substr(begin));
  rest = head;
  if (line.size() < 3 || line.front() != '`' || line.back() != '`') return "";
  rest = Trim(head.substr(0, begin));
  return std::string(line.substr(1, line.size() - 2));
}

CallStatus StatusOf(const std::string& result, bool shell, bool tells_failures) {
  static const RE2 failure(R"(^(?:Exit code [1-9-]|<tool_use_error>))");
  static const RE2 success(R"(^(?:The file .* has been updated|File created successfully))");
  if (RE2::PartialMatch(result, failure)) return CallStatus::kError;
  constexpr std::string_view kOfGemini = "\nExit Code: ";
  if (const std::size_t code = result.rfind(kOfGemini); shell && code != std::string::npos)
    return result.substr(code + kOfGemini.size(), 2) == "0\n" ? CallStatus::kOk : CallStatus::kError;
  if (result.starts_with("The user doesn't want to proceed with this tool use")) return CallStatus::kRejected;
  return (shell && tells_failures) || RE2::PartialMatch(result, success) ? CallStatus::kOk : CallStatus::kUnknown;
}

// The file that a result names as written.
std::string WrittenPath(const std::string& result) {
  static const RE2 written(R"(^(?:The file |File created successfully at:? )(\S.*?)(?: has been updated| \(|$|\n))");
  std::string path;
  RE2::PartialMatch(result, written, &path);
  return path;
}

// `text`: from "<tool-use" to what precedes "</tool-use>". `tells_failures`: the agent writes "Exit code N" into the
// output of a command that failed, so that other commands succeeded.
SpecStoryCall ReadSpecStoryCall(std::string_view text, bool tells_failures) {
  SpecStoryCall call;
  const std::size_t tag_end = std::min(text.find('>'), text.size());
  const std::string tag(text.substr(0, std::min<std::size_t>(tag_end, 400)));
  RE2::PartialMatch(tag, R"re(data-tool-name="([^"]*)")re", &call.tool);
  const bool shell = tag.find("data-tool-type=\"shell\"") != std::string::npos;
  const bool writes = tag.find("data-tool-type=\"write\"") != std::string::npos;
  const bool reads = tag.find("data-tool-type=\"read\"") != std::string::npos;
  const std::string_view whole = Without(Trim(From(text, tag_end + 1)), "</details>");
  constexpr std::string_view kSummaryEnd = "</summary>";
  const std::size_t summary_end = whole.find(kSummaryEnd);
  const bool summarized = summary_end != std::string_view::npos;
  const std::string body = "\n" + std::string(summarized ? whole.substr(summary_end + kSummaryEnd.size()) : whole);
  CallParts parts = PartsOf(body, shell || writes, writes);
  std::string_view description;
  const std::string quoted = QuotedLine(parts.head, description);
  if (parts.result) call.status = StatusOf(*parts.result, shell, tells_failures);
  if (parts.failed) call.status = CallStatus::kError;
  std::string command = parts.block.value_or(quoted);
  if (shell && command.empty() && summarized)
    RE2::PartialMatch(std::string(whole.substr(0, summary_end)), "`([^`\n]+)`", &command);
  const std::string path = writes && parts.result && quoted.empty() ? WrittenPath(*parts.result) : quoted;
  call.arguments = Json::object();
  if (shell && !command.empty()) {
    call.arguments["command"] = command;
    if (!description.empty()) call.arguments["description"] = std::string(description);
  } else if ((reads || writes) && !path.empty()) {
    call.arguments["file_path"] = path;
    if (writes && parts.block) call.arguments["content"] = *parts.block;
  } else {
    std::string shown(Trim(parts.head));
    if (parts.block) shown += (shown.empty() ? "" : "\n") + *parts.block;
    call.arguments["text"] = shown;
  }
  call.result = std::move(parts.result);
  return call;
}

// A part of the text by one side, with the line where it begins.
struct Block {
  bool user = false;
  bool sidechain = false;
  std::string detail;  // the text in brackets after the role
  std::size_t line = 0;
  std::string text;
};

void AppendLine(std::string& text, std::string_view line) {
  text += line;
  text += '\n';
}

// A divider that the export put at the end of a block.
void DropDivider(std::string& text) {
  std::string_view rest = Trim(text);
  if (rest == "---") rest = {};
  if (rest.size() > 4 && rest.substr(rest.size() - 4) == "\n---") rest = Trim(rest.substr(0, rest.size() - 4));
  text = std::string(rest);
}

class SpecStoryReader {
 public:
  explicit SpecStoryReader(TraceBuilder& builder) : builder_(builder) {}

  void Read(std::string_view text) {
    static const RE2 role_pattern(
        R"(^_\*\*(User|Agent|Assistant)( - sidechain)?(?: \(([^)]*)\))?( - sidechain)?\*\*_$)");
    static const RE2 session_pattern(R"(^<!-- (.+) Session ([\w-]+) \((.+)\) -->$)");
    std::vector<Block> blocks;
    std::size_t number = 0;
    for (const std::string_view line : SplitLines(text)) {
      ++number;
      std::string role;
      std::string side;
      std::string detail;
      std::string side_behind;
      std::string session;
      if (RE2::FullMatch(std::string(line), role_pattern, &role, &side, &detail, &side_behind)) {
        blocks.push_back({role == "User", !side.empty() || !side_behind.empty(), detail, number, ""});
      } else if (!blocks.empty()) {
        AppendLine(blocks.back().text, line);
      } else if (RE2::FullMatch(std::string(line), session_pattern, &role, &session, &detail)) {
        builder_.SetAgent(role);
        builder_.SetSession(session);
        builder_.NoteTime(ParseTimestamp(detail));
      } else if (line.starts_with("# ")) {
        builder_.SetTitle(std::string(line.substr(2)));
      }
    }
    builder_.SetLossy();
    for (Block& block : blocks) AddBlock(block);
    SettleCommand(false);
  }

 private:
  void AddBlock(Block& block) {
    DropDivider(block.text);
    EventContext stamp;
    stamp.line = block.line;
    // "model time", "time" or nothing.
    std::string model;
    std::string time;
    static const RE2 detail_pattern(R"(^(?:(\S+) )?(\d{4}-\d\d-\d\d[ T].*)$)");
    if (RE2::FullMatch(block.detail, detail_pattern, &model, &time)) {
      stamp.time_ms = ParseTimestamp(time);
    } else {
      model = block.detail;
    }
    if (block.sidechain) {
      stamp.agent = "sidechain";
      builder_.NoteSubagent(stamp.agent, "", "");
    }
    if (block.user) {
      AddUser(block, time, stamp);
      return;
    }
    SettleCommand(false);
    stamp.message = builder_.Message("", stamp.agent, model);
    AddAgentText(block.text, stamp);
    after_command_ = false;
  }

  void AddUser(Block& block, const std::string& time, const EventContext& stamp) {
    ClaudeUserText split = SplitClaudeUserText(block.text);
    const EventKind typed = stamp.agent.empty() ? EventKind::kUser : EventKind::kSystem;
    // The body of a slash command is a second message with the same time.
    const bool body = after_command_ && time == command_time_;
    after_command_ = false;
    if (split.kind != ClaudeUserText::Kind::kInjected)
      SettleCommand(split.kind == ClaudeUserText::Kind::kCommandOutput);
    if (split.kind == ClaudeUserText::Kind::kCommand)
      split.typed = std::string(Trim(split.command + " " + split.typed));
    const bool is_command = split.kind == ClaudeUserText::Kind::kCommand || block.text.starts_with('/');
    const bool answered = is_command && block.text.find("\n ⎿") != std::string::npos;  // with what the program printed
    if (is_command && !answered && !split.typed.empty()) {
      after_command_ = true;
      command_time_ = time;
      command_ = builder_.Add(stamp, typed, split.typed);
      command_name_ = split.typed.substr(1, split.typed.find_first_of(" \n") - 1);
    } else if (answered || body || split.kind != ClaudeUserText::Kind::kTyped) {
      builder_.Add(stamp, EventKind::kSystem, std::move(block.text));
    } else {
      builder_.Add(stamp, EventKind::kSystem, std::move(split.injected));
      builder_.Add(stamp, typed, std::move(split.typed));
    }
  }

  // Where `tag` stands at the beginning of a line. Elsewhere it's part of what a tool printed: calls often read or
  // write such exports themselves.
  static std::size_t FindOpening(std::string_view text, std::string_view tag) {
    std::size_t at = text.find(tag);
    while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n') at = text.find(tag, at + 1);
    return at;
  }

  // Where the tag stands at the end of a line; if there is none, anywhere.
  static std::size_t FindClosing(std::string_view text, std::string_view tag, std::size_t from) {
    std::size_t at = text.find(tag, from);
    while (at != std::string_view::npos && at + tag.size() < text.size() && text[at + tag.size()] != '\n')
      at = text.find(tag, at + 1);
    return at == std::string_view::npos ? text.find(tag, from) : at;
  }

  // What follows a slash command shows its kind: a local one (/exit) prints something, others are requests.
  void SettleCommand(bool local) {
    if (command_ == kNoIndex) return;
    if (local) {
      builder_.MarkAsSystem(command_);
    } else {
      builder_.NoteSkill(command_name_, "slash command", command_);
    }
    command_ = kNoIndex;
  }

  void AddAgentText(std::string_view text, const EventContext& stamp) {
    while (!text.empty()) {
      const std::size_t think = FindOpening(text, "<think>");
      const std::size_t tool = FindOpening(text, "<tool-use ");
      const std::size_t next = std::min(think, tool);
      builder_.Add(stamp, EventKind::kAssistant, std::string(Trim(text.substr(0, next))));
      if (next == std::string_view::npos) return;
      const std::string_view close = next == think ? "</think>" : "</tool-use>";
      const std::size_t end = FindClosing(text, close, next);
      const std::string_view inner = text.substr(next, end == std::string_view::npos ? end : end - next);
      if (next == think) {
        AddThought(inner, stamp);
      } else {
        AddToolUse(inner, stamp);
      }
      if (end == std::string_view::npos) return;
      text.remove_prefix(end + close.size());
    }
  }

  void AddThought(std::string_view inner, const EventContext& stamp) {
    const std::size_t summary = inner.find("</summary>");
    std::string thought(summary == std::string_view::npos ? inner.substr(7) : inner.substr(summary + 10));
    RE2::GlobalReplace(&thought, "</?details>|</?think>", "");
    builder_.Add(stamp, EventKind::kReasoning, std::string(Trim(thought)));
  }

  void AddToolUse(std::string_view inner, const EventContext& stamp) {
    SpecStoryCall call = ReadSpecStoryCall(inner, builder_.trace().agent_name == "Claude Code");
    const std::string id = fmt::format("tool-{}", ++tools_);
    builder_.AddCall(stamp, call.tool, id, std::move(call.arguments));
    if (call.result) builder_.AddResult(stamp, id, *std::move(call.result), call.status);
  }

  TraceBuilder& builder_;
  bool after_command_ = false;
  std::string command_time_;
  std::size_t command_ = kNoIndex;  // event of a slash command whose kind the next block shows
  std::string command_name_;
  std::size_t tools_ = 0;
};

// The role that a line names in free text ("User:", "## Assistant"); nothing for other lines.
std::optional<bool> RoleOfNoteLine(std::string_view line, std::string& rest) {
  static const RE2 role_pattern(R"(^(?:#+ +)?(?:\*\*)?(User|Human|You|Me|Assistant|AI|Claude|ChatGPT|Agent|Model))"
                                R"((?:\*\*)?:(?:\*\*)?(?:\s+(.*))?$)");
  static const RE2 heading_pattern(
      R"(^(?:#+ +|---)(User|USER|Human|You|Assistant|ASSISTANT|AI|Claude|ChatGPT|Agent|Model)\s*$)");
  std::string role;
  if (!RE2::FullMatch(std::string(line), role_pattern, &role, &rest) &&
      !RE2::FullMatch(std::string(line), heading_pattern, &role)) {
    return std::nullopt;
  }
  return role == "User" || role == "USER" || role == "Human" || role == "You" || role == "Me";
}

}  // namespace

void ReadSpecStoryMarkdown(std::string_view text, TraceBuilder& builder) { SpecStoryReader(builder).Read(text); }

void ReadCursorMarkdown(std::string_view text, TraceBuilder& builder) {
  const std::vector<std::string_view> lines = SplitLines(text);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = Trim(lines[i]);
    std::string version;
    if (line == "**User**" || line == "**Cursor**") {
      if (!blocks.empty()) DropDivider(blocks.back().text);
      blocks.push_back({line == "**User**", false, "", i + 1, ""});
    } else if (!blocks.empty()) {
      AppendLine(blocks.back().text, lines[i]);
    } else if (line.starts_with("# ")) {
      builder.SetTitle(std::string(line.substr(2)));
    } else if (RE2::PartialMatch(std::string(line), R"(^_Exported on .* from Cursor \(([^)]*)\)_)", &version)) {
      builder.SetAgentVersion(version);
    }
  }
  builder.SetLossy();
  builder.SetAgent("Cursor");
  builder.NoteCaveat("this export has no tool calls or outputs");
  for (Block& block : blocks) {
    DropDivider(block.text);
    EventContext stamp;
    stamp.line = block.line;
    if (!block.user) stamp.message = builder.Message("", "", "");
    builder.Add(stamp, block.user ? EventKind::kUser : EventKind::kAssistant, std::move(block.text));
  }
}

void ReadNotes(std::string_view text, TraceBuilder& builder) {
  std::vector<Block> blocks;
  std::set<bool> roles;
  std::string before;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    std::string rest;
    if (const auto is_user = RoleOfNoteLine(line, rest)) {
      roles.insert(*is_user);
      blocks.push_back({*is_user, false, "", number, rest.empty() ? "" : rest + "\n"});
    } else {
      AppendLine(blocks.empty() ? before : blocks.back().text, line);
    }
  }
  EventContext stamp;
  stamp.line = 1;
  if (roles.size() < 2) {
    builder.Add(stamp, EventKind::kSystem, std::string(Trim(text)));
    return;
  }
  builder.Add(stamp, EventKind::kSystem, std::string(Trim(before)));
  for (const Block& block : blocks) {
    stamp.line = block.line;
    stamp.message = block.user ? kNoIndex : builder.Message("", "", "");
    builder.Add(stamp, block.user ? EventKind::kUser : EventKind::kAssistant, std::string(Trim(block.text)));
  }
}

}  // namespace upskill
