// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/claude_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

// Elements that the program writes, whatever their attributes.
bool IsInjected(std::string_view tag) {
  constexpr std::array<std::string_view, 19> kTags = {
      "user-prompt-submit-hook", "ide_opened_file",      "ide_selection",
      "ide_diagnostics",         "local-command-caveat", "post-tool-use-hook",
      "session-start-hook",      "bash-stdout",          "bash-stderr",
      "command-contents",        "teammate-message",     "cross-session-message",
      "channel-message",         "new-diagnostics",      "remote-review",
      "remote-review-progress",  "local-command-stdout", "local-command-stderr",
      "fork-boilerplate"};
  return tag.ends_with("-reminder") || tag.ends_with("-notification") ||
         std::find(kTags.begin(), kTags.end(), tag) != kTags.end();
}

// The length of a line that follows a notice and only says where more is: "Read the output file …: /tmp/x.output".
std::size_t PointerLength(std::string_view text) {
  const std::size_t begin = text.starts_with('\n') ? 1 : 0;
  const std::string_view line = text.substr(begin, text.substr(begin).find('\n'));
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return 0;
  const std::string_view path = Trim(line.substr(colon + 2));
  const bool is_path = path.find_first_of("/\\") != std::string_view::npos && path.find(' ') == std::string_view::npos;
  return is_path ? begin + line.size() : 0;
}

// Moves every injected element of `text` to `injected`.
void TakeInjectedElements(ClaudeUserText& split) {
  const std::string text = std::exchange(split.typed, {});
  const std::string_view view = text;
  std::size_t from = 0;  // of what isn't sorted yet
  for (std::size_t open = view.find('<'); open != std::string::npos; open = view.find('<', open + 1)) {
    const std::string_view tag = view.substr(open + 1, view.substr(open + 1, 40).find_first_of("> \n"));
    if (!IsInjected(tag) && !view.substr(open).starts_with("<channel source=")) continue;
    const std::string close = "</" + std::string(tag) + ">";
    const std::size_t end = view.find(close, open);
    std::size_t stop = end == std::string::npos ? view.size() : end + close.size();
    if (tag.ends_with("-notification")) stop += PointerLength(view.substr(stop));
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

bool AsksInWords(std::string_view command, std::string_view arguments) {
  constexpr std::array<std::string_view, 36> kSettings = {
      "add-dir",        "agents",       "branch",      "bug",         "chrome",  "color",
      "config",         "copy",         "effort",      "export",      "fast",    "feedback",
      "hooks",          "ide",          "login",       "marketplace", "mcp",     "memory",
      "model",          "output-style", "permissions", "plugin",      "plugins", "privacy-settings",
      "remote-control", "remote-env",   "rename",      "resume",      "rewind",  "sandbox",
      "skills",         "tag",          "tasks",       "theme",       "title",   "voice"};
  if (command.starts_with('/')) command.remove_prefix(1);
  const bool sets = std::find(kSettings.begin(), kSettings.end(), command) != kSettings.end();
  if (sets || arguments.starts_with('-')) return false;
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
  const bool shell_notice = front.starts_with("Background Bash ") && front.find("(status: ") != std::string_view::npos;
  if (shell_notice || front.starts_with("Caveat: The messages below")) {
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
