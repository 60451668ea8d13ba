// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/claude_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

// Elements that are a message of the program or of another agent: what follows them is, too.
bool IsNotice(std::string_view tag) {
  return tag == "tick" || tag.ends_with("-notification") || (tag.ends_with("-message") && !tag.starts_with("command"));
}

// Elements that the program writes, whatever their attributes.
bool IsInjected(std::string_view tag) {
  constexpr std::array<std::string_view, 15> kTags = {
      "user-prompt-submit-hook", "ide_opened_file",      "ide_selection",
      "ide_diagnostics",         "local-command-caveat", "post-tool-use-hook",
      "session-start-hook",      "bash-stdout",          "bash-stderr",
      "command-contents",        "new-diagnostics",      "remote-review",
      "remote-review-progress",  "local-command-stdout", "local-command-stderr"};
  return tag.ends_with("-reminder") || tag == "fork-boilerplate" || IsNotice(tag) || IsOneOf(tag, kTags);
}

// The name of the element that begins with `text`.
std::string_view TagAt(std::string_view text) { return text.substr(1, text.substr(1, 40).find_first_of("> \n")); }

// Moves every injected element of `text` to `injected`.
void TakeInjectedElements(ClaudeUserText& split) {
  const std::string text = std::exchange(split.typed, {});
  const std::string_view view = text;
  std::size_t from = 0;  // of what isn't sorted yet
  for (std::size_t open = view.find('<'); open != std::string::npos; open = view.find('<', open + 1)) {
    const std::string_view tag = TagAt(view.substr(open));
    const bool notice = IsNotice(tag);
    // The user may write about one.
    if (notice && open > 0 && view[open - 1] != '\n') continue;
    if (!IsInjected(tag) && !view.substr(open).starts_with("<channel source=")) continue;
    const std::string close = "</" + std::string(tag) + ">";
    const std::size_t end = view.find(close, open);
    const std::size_t stop = notice || end == std::string::npos ? view.size() : end + close.size();
    split.typed += view.substr(from, open - from);
    split.injected.append(view.substr(open, stop - open)).append(1, '\n');
    from = stop;
    open = stop - 1;
  }
  split.typed += view.substr(from);
}

}  // namespace

std::string_view TextInTag(std::string_view text, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t from = begin + open.size();
  const std::size_t end = text.find("</" + std::string(tag) + ">", from);
  return Trim(text.substr(from, end == std::string_view::npos ? end : end - from));
}

bool StartsWithNotice(std::string_view text) {
  text = Trim(text);
  return text.starts_with('<') && IsNotice(TagAt(text));
}

bool IsClaudeState(std::string_view type) {
  constexpr std::array<std::string_view, 36> kTypes = {"file-history-snapshot",
                                                       "file-history-delta",
                                                       "permission-mode",
                                                       "last-prompt",
                                                       "ai-title",
                                                       "custom-title",
                                                       "task-summary",
                                                       "mode",
                                                       "pr-link",
                                                       "agent-name",
                                                       "agent-color",
                                                       "agent-setting",
                                                       "stream_event",
                                                       "rate_limit_event",
                                                       "worktree-state",
                                                       "tag",
                                                       "content-replacement",
                                                       "attribution-snapshot",
                                                       "fork-context-ref",
                                                       "bridge-session",
                                                       "frame-link",
                                                       "speculation-accept",
                                                       "context-collapse-commit",
                                                       "context-collapse-snapshot",
                                                       "marble-origami-commit",
                                                       "marble-origami-snapshot",
                                                       "cost-state",
                                                       "relocated",
                                                       "atis-latch",
                                                       "isolation-latch",
                                                       "started",
                                                       "launched",
                                                       "failed",
                                                       "tool_progress",
                                                       "auth_status",
                                                       "prompt_suggestion"};
  return IsOneOf(type, kTypes);
}

bool IsOfProject(std::string_view attachment) {
  constexpr std::array<std::string_view, 14> kTypes = {
      "file",          "edited_text_file",       "directory",           "selected_lines_in_ide", "opened_file_in_ide",
      "nested_memory", "relevant_memories",      "instructions",        "mcp_resource",          "diagnostics",
      "pdf_reference", "compact_file_reference", "plan_file_reference", "edited_image_file"};
  return IsOneOf(attachment, kTypes) || attachment.starts_with("hook_");
}

bool IsSetting(std::string_view command) {
  constexpr std::array<std::string_view, 40> kSettings = {"compact",
                                                          "context",
                                                          "clear",
                                                          "cost",
                                                          "add-dir",
                                                          "agents",
                                                          "branch",
                                                          "bug",
                                                          "chrome",
                                                          "color",
                                                          "config",
                                                          "copy",
                                                          "effort",
                                                          "export",
                                                          "fast",
                                                          "feedback",
                                                          "hooks",
                                                          "ide",
                                                          "login",
                                                          "marketplace",
                                                          "mcp",
                                                          "memory",
                                                          "model",
                                                          "output-style",
                                                          "permissions",
                                                          "plugin",
                                                          "plugins",
                                                          "privacy-settings",
                                                          "remote-control",
                                                          "remote-env",
                                                          "rename",
                                                          "resume",
                                                          "rewind",
                                                          "sandbox",
                                                          "skills",
                                                          "tag",
                                                          "tasks",
                                                          "theme",
                                                          "title",
                                                          "voice"};
  if (command.starts_with('/')) command.remove_prefix(1);
  return IsOneOf(command, kSettings);
}

bool AsksInWords(std::string_view command, std::string_view arguments) {
  constexpr std::array<std::string_view, 9> kOfGoals = {"",      "clear", "stop",   "off",   "none",
                                                        "reset", "pause", "cancel", "resume"};
  arguments = Trim(arguments);
  if (command == "/goal") return !IsOneOf(arguments, kOfGoals);
  if (IsSetting(command) || arguments.starts_with('-')) return false;
  // Some scripts have no spaces.
  return std::any_of(arguments.begin(), arguments.end(),
                     [](char c) { return c == ' ' || c == '\n' || static_cast<unsigned char>(c) >= 0x80; });
}

ClaudeUserText SplitClaudeUserText(std::string text) {
  using Kind = ClaudeUserText::Kind;
  ClaudeUserText split;
  const std::string_view front = Trim(text);
  if (front.starts_with("[Request interrupted by user")) {
    split.kind = Kind::kInterrupt;
    split.injected = std::move(text);
    return split;
  }
  if (front.starts_with("<local-command-stdout>") || front.starts_with("<local-command-stderr>")) {
    split.kind = Kind::kCommandOutput;
    split.injected = std::move(text);
    return split;
  }
  // Of a background task that ended.
  const bool notice = front.starts_with("{\"task_id\":") ||
                      (front.starts_with("Background Bash ") && front.find("(status: ") != std::string_view::npos);
  if (notice || front.starts_with("Caveat: The messages below")) {
    split.injected = std::move(text);
    return split;
  }
  if (front.starts_with("<command-name>") || front.starts_with("<command-message>") ||
      front.starts_with("<command-args>")) {
    split.kind = Kind::kCommand;
    split.command = std::string(TextInTag(front, "command-name"));
    if (!split.command.empty() && split.command.front() != '/') split.command.insert(0, "/");
    split.typed = std::string(TextInTag(front, "command-args"));
    return split;
  }
  if (front.starts_with("<bash-input>")) {
    split.kind = Kind::kTyped;
    split.typed = "! " + std::string(TextInTag(front, "bash-input"));
    return split;
  }
  split.typed = std::move(text);
  if (split.typed.find('<') != std::string::npos) TakeInjectedElements(split);
  if (!Trim(split.typed).empty()) {
    split.kind = Kind::kTyped;
  } else if (split.injected.empty()) {
    split.injected = split.typed;
  }
  return split;
}

}  // namespace upskill
