// SPDX-License-Identifier: Apache-2.0
#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "cli/help/commands.h"
#include "cli/help/help_topics.h"
#include "cli/options/help_formatter.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

// A character that isn't ASCII, by its number. `character`: its bytes in UTF-8.
std::string NumberedCharacter(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character.front()) & (0x7FU >> character.size());
  for (const char c : character.substr(1)) code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return fmt::format("\\[u{:04X}]", code);
}

// Text as roff prints it unchanged: hyphens stay hyphens that can be copied, no line begins with a request, and other
// characters than those of ASCII are written by their numbers.
std::string Roff(std::string_view text) {
  static const std::map<char, std::string_view> substitutes = {{'\\', "\\e"},  {'-', "\\-"},   {'^', "\\(ha"},
                                                               {'~', "\\(ti"}, {'`', "\\(ga"}, {'\'', "\\(aq"}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool at_line_start = i == 0 || text[i - 1] == '\n';
    if (at_line_start && (byte == '.' || byte == '\'')) out += "\\&";
    if (byte >= 0x80) {
      const std::size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
      out += NumberedCharacter(text.substr(i, bytes));
      i += bytes - 1;
    } else if (const auto quoted = substitutes.find(text[i]); quoted != substitutes.end()) {
      out += quoted->second;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string Title(std::string_view text) { return fmt::format(".SH {}\n", Roff(Upper(std::string(text)))); }

std::string Row(const HelpRow& row) { return fmt::format(".TP\n.B {}\n{}\n", Roff(Trim(row.name)), Roff(row.text)); }

std::string Verbatim(std::string_view text) { return fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(text)); }

// The paragraphs after the options: a line that ends with a colon and isn't indented is a title, one that is indented
// by four columns a command line.
std::string FooterText(std::string_view footer) {
  std::string out;
  for (const std::string_view line : SplitLines(footer)) {
    const std::string_view text = Trim(line);
    if (text.empty()) continue;
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == 0 && text.ends_with(':')) {
      out += Title(text.substr(0, text.size() - 1));
    } else if (indent >= 4) {
      out += fmt::format(".RS\n.nf\n{}\n.fi\n.RE\n", Roff(text));
    } else {
      out += fmt::format(".PP\n{}\n", Roff(text));
    }
  }
  return out;
}

std::string SeeAlso(const CLI::App& command) {
  std::vector<std::string> names;
  if (const CLI::App* parent = command.get_parent()) names.push_back(ManPageName(*parent));
  for (const CLI::App* sub : VisibleCommands(command)) names.push_back(ManPageName(*sub));
  if (names.empty()) return "";
  std::string out = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format(".BR {} (1){}\n", Roff(names[i]), i + 1 < names.size() ? "," : "");
  return out;
}

Result<std::size_t> WritePages(const CLI::App& command, const std::filesystem::path& folder) {
  RETURN_IF_ERROR(
      WriteFileAtomically(folder / (ManPageName(command) + ".1"), ManPage(command), Durability::kNotSynced));
  std::size_t written = 1;
  for (const CLI::App* sub : VisibleCommands(command)) {
    ASSIGN_OR_RETURN(const std::size_t below, WritePages(*sub, folder));
    written += below;
  }
  return written;
}

}  // namespace

std::string ManPageName(const CLI::App& command) {
  std::string name = CommandPath(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string ManPage(const CLI::App& command) {
  const std::string name = ManPageName(command);
  std::string out =
      fmt::format(".TH {} 1 \"\" \"upskill {}\" \"upskill manual\"\n", Roff(Upper(name)), UPSKILL_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n", Roff(name), Roff(command.get_description()));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", Roff(UsageOf(command)));
  for (const HelpSection& section : HelpSectionsOf(command)) {
    out += Title(section.title);
    for (const HelpRow& row : section.rows) out += Row(row);
  }
  const bool is_program = command.get_parent() == nullptr;
  if (!is_program) return out + FooterText(command.get_footer()) + SeeAlso(command);
  for (const HelpTopic& topic : HelpTopics()) out += Title(topic.name) + Verbatim(topic.text);
  return out + SeeAlso(command);
}

namespace {

struct ManOptions {
  std::vector<std::string> words;  // a command with its subcommand; none: the program
  std::string output;              // write all pages to this folder
};

void AddManCommand(CLI::App& app, ManOptions& options) {
  CLI::App* command = app.add_subcommand("man", "Print a manual page, or write all of them")->group("Other");
  command->add_option("NAME", options.words, "A command such as `eval` or `trace show`");
  command->add_option("-o,--output", options.output, "Write the pages of all commands to this folder")
      ->type_name("DIR");
  AddExamples(*command, {{"The page of a command, for man -l -", "upskill man eval"},
                         {"Install all pages for yourself", "upskill man -o ~/.local/share/man/man1"}});
}

ExitCode RunMan(const CLI::App& app, const ManOptions& options, Env& env) {
  const CLI::App* command = CommandOf(app, options.words);
  if (command == nullptr) {
    return PrintError(env, InputError(fmt::format("no manual page for '{}'{}; `upskill --help` lists the commands",
                                                  fmt::join(options.words, " "), NearestCommand(app, options.words))));
  }
  if (options.output.empty()) {
    PrintDocument(env, ManPage(*command));
    return ExitCode::kSuccess;
  }
  if (const Status made = MakeFolders(options.output); !made) return PrintError(env, made.error());
  const Result<std::size_t> written = WritePages(app, options.output);
  if (!written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} in {}\n", Counted(*written, "page"), options.output));
  return ExitCode::kSuccess;
}

}  // namespace

Command ManCommand() { return CommandOf({}, AddManCommand, RunMan, Keys::kNone); }

}  // namespace upskill
