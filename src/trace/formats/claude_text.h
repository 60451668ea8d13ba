// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// Separates what the user typed from what Claude Code injects into the user's messages.
struct ClaudeUserText {
  enum class Kind {
    kTyped,         // `typed` has the user's words, `injected` the text around them
    kInjected,      // nothing typed
    kInterrupt,     // "[Request interrupted by user…]"
    kCommand,       // a slash command: `command` (with the slash) and `typed`, its arguments
    kCommandOutput  // what a local slash command printed
  };
  Kind kind = Kind::kInjected;
  std::string typed;
  std::string injected;
  std::string command;
};
ClaudeUserText SplitClaudeUserText(std::string text);

// Whether a message, or a part of one, begins with a notice that the program or another agent sent.
bool StartsWithNotice(std::string_view text);

// Whether a type of record holds the program's state, nothing of the conversation.
bool IsClaudeState(std::string_view type);

// Whether an attachment of this type shows something of the user's project, not the program's own prompts.
bool IsOfProject(std::string_view attachment);

// Whether a slash command changes how the program works, whatever its arguments.
bool IsSetting(std::string_view command);

// Whether the arguments of a slash command that the program carries out itself say what the user wants ("/goal Make the
// tests pass"), rather than being a name or a setting ("/model opus").
bool AsksInWords(std::string_view command, std::string_view arguments);

// The text between <tag> and </tag>; empty if absent.
std::string_view TextInTag(std::string_view text, std::string_view tag);

}  // namespace upskill
