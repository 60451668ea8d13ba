// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/help_formatter.h"
#include "cli/help_topics.h"
#include "util/text.h"

namespace upskill {
namespace {

// The bytes of a character that isn't ASCII, in UTF-8 text.
std::string_view CharacterAt(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  return text.substr(at, lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2);
}

unsigned CodePointOf(std::string_view character) {
  unsigned code = static_cast<unsigned char>(character.front()) & (0x7FU >> character.size());
  for (const char c : character.substr(1)) code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

// Text as roff prints it unchanged: hyphens stay hyphens that can be copied, no line begins with a request, and other
// characters than those of ASCII are written by their numbers.
std::string Roff(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::string_view character = CharacterAt(text, i);
      out += fmt::format("\\[u{:04X}]", CodePointOf(character));
      i += character.size() - 1;
      at_line_start = false;
      continue;
    }
    if (at_line_start && (c == '.' || c == '\'')) out += "\\&";
    at_line_start = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += "\\(aq";
        break;
      default:
        out += c;
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

}  // namespace upskill
