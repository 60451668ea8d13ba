// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace upskill {

// What `upskill help NAME` prints besides the help of commands.
struct HelpTopic {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  // lines of at most 80 columns
};

std::span<const HelpTopic> HelpTopics();

// A subject that a page of the documentation explains, and the commands that have its options.
struct HelpPage {
  std::string_view name;
  std::string_view about;
  std::string_view page;      // of docs/
  std::string_view commands;  // examples, one a line
};

std::span<const HelpPage> HelpPages();

}  // namespace upskill
