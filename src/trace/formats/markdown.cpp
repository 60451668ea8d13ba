// SPDX-License-Identifier: Apache-2.0
// Markdown exports of Cursor and SpecStory, and plain notes.
#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>
#include <set>
#include <vector>

#include "trace/formats/claude_text.h"
#include "trace/formats/readers.h"
#include "trace/formats/specstory_call.h"
#include "util/text.h"

namespace upskill {
namespace {

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
    if (is_command && !split.typed.empty()) {
      after_command_ = true;
      command_time_ = time;
      command_ = builder_.Add(stamp, typed, split.typed);
      command_name_ = split.typed.substr(1, split.typed.find_first_of(" \n") - 1);
    } else if (body || split.kind != ClaudeUserText::Kind::kTyped) {
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
