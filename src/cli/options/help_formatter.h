// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/terminal/style.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace upskill {

// "Compare two models" and the command line that does it.
struct HelpExample {
  std::string what;
  std::string command;
};

// What the help of `command` ends with: first the examples, then paragraphs such as where to read more.
void AddExamples(CLI::App& command, const std::vector<HelpExample>& examples);
void AddHelpNote(CLI::App& command, const std::string& text);

// "upskill trace show".
std::string CommandPath(const CLI::App& command);

// "upskill merge RUN... -o DIR [OPTIONS]".
std::string UsageOf(const CLI::App& command);

// The subcommands of `command` that its help lists.
std::vector<const CLI::App*> VisibleCommands(const CLI::App& command);

// The command that the words name below `app`, {"trace", "show"}; null: there is none.
const CLI::App* CommandOf(const CLI::App& app, const std::vector<std::string>& words);

// "; did you mean 'trace show'?": the command nearest to the words, or to as many of the first of them as are near to
// one; empty if none is. `others`: names that may be meant, too.
std::string NearestCommand(const CLI::App& app, std::vector<std::string> words,
                           const std::vector<std::string>& others = {});

// "-m, --model MODEL": of several long names the first, the others are older or other spellings.
std::string OptionNames(const CLI::Option& option);

// A line of the help: a command, an option or an argument, and what it is.
struct HelpRow {
  std::string name;
  std::string text;
};

struct HelpSection {
  std::string title;
  std::vector<HelpRow> rows;
};

// What the help of a command lists, in its order.
std::vector<HelpSection> HelpSectionsOf(const CLI::App& command);

// What `COMMAND --help` prints, for a terminal of style.columns columns: options in their groups, what they stand for,
// their defaults, examples.
TerminalText HelpOf(const CLI::App& command, const Style& style);

}  // namespace upskill
