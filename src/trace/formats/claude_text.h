// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace upskill {

// Claude Code writes into the user's messages what the user did not type. This takes it apart.
struct ClaudeUserText {
  enum class Kind {
    kTyped,         // `typed` holds the user's words, `injected` what stood around them
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

// The text between <tag> and </tag>, empty if it isn't there.
std::string_view TextInTag(std::string_view text, std::string_view tag);

}  // namespace upskill
