// SPDX-License-Identifier: Apache-2.0
#include "cli/options/help_formatter.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxNameColumns = 28;  // longer names get a line of their own
constexpr std::size_t kMinTextColumns = 30;  // with less, the text goes below the name
constexpr std::size_t kNarrowIndent = 10;

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

bool TakesSeveral(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = Trim(text)).empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

// The text in lines of at most `columns` columns; `tail` ends every line but the last.
std::vector<std::string> WrappedLines(std::string_view text, std::size_t columns, std::string_view tail = "") {
  std::vector<std::string> lines = {""};
  for (const std::string_view word : WordsOf(text)) {
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (DisplayColumns(line) + 1 + DisplayColumns(word) + tail.size() <= columns) {
      line += " " + std::string(word);
    } else {
      line += tail;
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string OptionText(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += fmt::format(" [default: {}]", option.get_default_str());
  return text;
}

void AddRow(std::vector<HelpSection>& sections, const std::string& title, HelpRow row) {
  auto found = std::find_if(sections.begin(), sections.end(), [&](const auto& s) { return s.title == title; });
  if (found == sections.end()) found = sections.insert(found, {title, {}});
  found->rows.push_back(std::move(row));
}

std::string RowText(const HelpRow& row, std::size_t text_column, std::size_t columns) {
  const bool narrow = columns < text_column + kMinTextColumns;
  const std::size_t indent = narrow ? kNarrowIndent : text_column;
  const std::size_t taken = 2 + DisplayColumns(row.name);
  std::string out = "  " + row.name;
  std::string between =
      narrow || taken + 2 > text_column ? "\n" + std::string(indent, ' ') : std::string(text_column - taken, ' ');
  for (const std::string& line : WrappedLines(row.text, columns - std::min(indent, columns))) {
    out += between + line;
    between = "\n" + std::string(indent, ' ');
  }
  return out + "\n";
}

// A line of the footer: headings end with a colon, command lines are indented and continue after a backslash.
TerminalText FooterLine(std::string_view line, const Style& style) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const bool is_command = line.substr(indent).starts_with("upskill ");
  const std::string space(indent, ' ');
  std::string out;
  if (DisplayColumns(line) <= style.columns) {
    out = line;
  } else {
    const std::size_t columns = style.columns - std::min(indent + 2, style.columns);
    for (const std::string& part : WrappedLines(line, columns, is_command ? " \\" : ""))
      out += fmt::format("{}{}{}{}", out.empty() ? "" : "\n", space, out.empty() || indent == 0 ? "" : "  ", part);
  }
  const TerminalText text = TerminalText::Escape(out);
  return (indent == 0 && line.ends_with(':') ? Tinted(style, Tint::kBold, text) : text) + "\n";
}

std::string Summary(const CLI::App& command, const Style& style) {
  std::string out;
  for (const std::string& line : WrappedLines(command.get_description(), style.columns)) out += line + "\n";
  return out;
}

// The commands below `command` as they are typed, "trace show".
void CollectCommands(const CLI::App& command, const std::string& before, std::vector<std::string>& names) {
  for (const CLI::App* sub : VisibleCommands(command)) {
    names.push_back(before + sub->get_name());
    CollectCommands(*sub, names.back() + " ", names);
  }
}

}  // namespace

void AddExamples(CLI::App& command, const std::vector<HelpExample>& examples) {
  std::string text = "Examples:";
  for (const HelpExample& example : examples) text += fmt::format("\n  {}:\n    {}", example.what, example.command);
  command.footer(text);  // not after that of the parent, which CLI11 hands down
}

void AddHelpNote(CLI::App& command, const std::string& text) {
  command.footer(command.get_footer().empty() ? text : command.get_footer() + "\n\n" + text);
}

std::string CommandPath(const CLI::App& command) {
  return command.get_parent() == nullptr ? command.get_name()
                                         : CommandPath(*command.get_parent()) + " " + command.get_name();
}

std::string OptionNames(const CLI::Option& option) {
  std::string names = option.get_snames().empty() ? "    " : "-" + option.get_snames().front();
  if (!option.get_lnames().empty())
    names += (option.get_snames().empty() ? "--" : ", --") + option.get_lnames().front();
  if (IsFlag(option)) return names;
  const std::string type = option.get_type_name();
  return names + (option.get_expected_min() == 0 ? fmt::format(" [{}]", type) : " " + type);
}

std::vector<const CLI::App*> VisibleCommands(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

const CLI::App* CommandOf(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> below = VisibleCommands(*command);
    const auto found =
        std::find_if(below.begin(), below.end(), [&](const auto* sub) { return sub->get_name() == word; });
    if (found == below.end()) return nullptr;
    command = *found;
  }
  return command;
}

std::string NearestCommand(const CLI::App& app, std::vector<std::string> words,
                           const std::vector<std::string>& others) {
  std::vector<std::string> names;
  CollectCommands(app, "", names);
  names.insert(names.end(), others.begin(), others.end());
  std::string suggestion;
  for (; !words.empty() && suggestion.empty(); words.pop_back())
    suggestion = DidYouMean(fmt::format("{}", fmt::join(words, " ")), names);
  return suggestion;
}

std::string UsageOf(const CLI::App& command) {
  std::string usage = CommandPath(command);
  bool optional = false;
  std::string required;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name(true) + (TakesSeveral(*option) ? "..." : "");
      usage += option->get_required() ? " " + name : fmt::format(" [{}]", name);
    } else if (option->get_required()) {
      const bool is_short = !option->get_snames().empty();
      required +=
          fmt::format(" {}{} {}", is_short ? "-" : "--",
                      is_short ? option->get_snames().front() : option->get_lnames().front(), option->get_type_name());
    } else {
      optional = optional || option != command.get_help_ptr();
    }
  }
  usage += required + (optional ? " [OPTIONS]" : "");
  if (VisibleCommands(command).empty()) return usage;
  return usage + (command.get_require_subcommand_min() > 0 ? " COMMAND ..." : " [COMMAND ...]");
}

std::vector<HelpSection> HelpSectionsOf(const CLI::App& command) {
  std::vector<HelpSection> sections;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) AddRow(sections, "Arguments", {option->get_name(true), OptionText(*option)});
  }
  for (const CLI::App* sub : VisibleCommands(command)) {
    const bool grouped = sub->get_group() != command.get_group();  // CLI11 hands the group down
    AddRow(sections, grouped ? sub->get_group() : "Commands", {sub->get_name(), sub->get_description()});
  }
  std::string group = "Options";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->nonpositional() || option->get_group().empty() || option == command.get_help_ptr()) continue;
    group = option->get_group();
    AddRow(sections, group, {OptionNames(*option), OptionText(*option)});
  }
  if (const CLI::Option* help = command.get_help_ptr())
    AddRow(sections, group, {OptionNames(*help), OptionText(*help)});
  return sections;
}

TerminalText HelpOf(const CLI::App& command, const Style& style) {
  TerminalText out = TerminalText::Escape(Summary(command, style));
  const std::string usage = UsageOf(command);
  out += "\n" + Tinted(style, Tint::kBold, "Usage:") + "\n" + FooterLine("  " + usage, style);
  const std::vector<HelpSection> sections = HelpSectionsOf(command);
  std::size_t widest = 0;
  for (const HelpSection& section : sections) {
    for (const HelpRow& row : section.rows) {
      const std::size_t width = DisplayColumns(row.name);
      if (width <= kMaxNameColumns) widest = std::max(widest, width);
    }
  }
  for (const HelpSection& section : sections) {
    out += "\n" + Tinted(style, Tint::kBold, TerminalText::Format("{}:", section.title)) + "\n";
    for (const HelpRow& row : section.rows) out += TerminalText::Escape(RowText(row, widest + 4, style.columns));
  }
  const std::string footer = command.get_footer();
  if (footer.empty()) return out;
  out += "\n";
  for (const std::string_view line : SplitLines(footer)) out += FooterLine(line, style);
  return out;
}

}  // namespace upskill
