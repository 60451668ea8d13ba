// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/claude_text.h"

#include <array>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::array<std::string_view, 12> kInjectedTags = {
    "system-reminder", "task-notification",    "user-prompt-submit-hook", "ide_opened_file",    "ide_selection",
    "ide_diagnostics", "local-command-caveat", "post-tool-use-hook",      "session-start-hook", "bash-stdout",
    "bash-stderr",     "command-contents"};

// Moves every injected block of `text` to `injected`.
void TakeInjectedBlocks(ClaudeUserText& split) {
  for (const std::string_view tag : kInjectedTags) {
    const std::string open = "<" + std::string(tag) + ">";
    const std::string close = "</" + std::string(tag) + ">";
    std::size_t begin = split.typed.find(open);
    while (begin != std::string::npos) {
      const std::size_t end = split.typed.find(close, begin);
      const std::size_t stop = end == std::string::npos ? split.typed.size() : end + close.size();
      split.injected += split.typed.substr(begin, stop - begin);
      split.injected += '\n';
      split.typed.erase(begin, stop - begin);
      begin = split.typed.find(open, begin);
    }
  }
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
  if (front.starts_with("Caveat: The messages below")) {
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
  if (split.typed.find('<') != std::string::npos) TakeInjectedBlocks(split);
  if (!Trim(split.typed).empty()) {
    split.kind = Kind::kTyped;
  } else if (split.injected.empty()) {
    split.injected = split.typed;
  }
  return split;
}

}  // namespace upskill
