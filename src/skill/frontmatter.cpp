// SPDX-License-Identifier: Apache-2.0
#include "skill/frontmatter.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "util/byte_order_mark.h"
#include "util/text.h"
#include "util/yaml_faults.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxFrontmatterBytes = std::size_t{64} * 1024;
constexpr int kFirstLine = 2;

Error ErrorAt(const std::string& source, const YAML::Mark& mark, const std::string& reason) {
  if (mark.is_null()) return InputError(fmt::format("{}: {}", source, reason));
  return InputError(fmt::format("{}:{}:{}: {}", source, mark.line + kFirstLine, mark.column + 1, reason));
}

// yaml-cpp treats an EOT as the end of the text, so a control character could hide what follows it.
std::optional<std::size_t> FindControlCharacter(std::string_view yaml) {
  const auto* const found = std::find_if(yaml.begin(), yaml.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
  });
  if (found == yaml.end()) return std::nullopt;
  return static_cast<std::size_t>(found - yaml.begin());
}

// A field that must be a scalar; absent and null give an empty string.
Result<std::string> TextField(const YAML::Node& root, const std::string& key, const std::string& source) {
  const YAML::Node node = root[key];
  if (!node.IsDefined() || node.IsNull()) return std::string();
  if (!node.IsScalar()) return ErrorAt(source, node.Mark(), fmt::format("\"{}\" must be text, not a list or map", key));
  const std::string text(Trim(node.Scalar()));
  // An escape in a quoted scalar ("\0", "\e") isn't caught by the check of the raw text.
  if (FindControlCharacter(text)) {
    return ErrorAt(source, node.Mark(), fmt::format("\"{}\" contains a control character", key));
  }
  return text;
}

// Text with a colon that YAML takes for the end of a key: `Colours. Note: use`. Not a scalar in quotes, a block or a
// list.
bool IsMistakenForKey(std::string_view value) {
  return !value.empty() && std::string_view("\"'|>#[{&*!").find(value.front()) == std::string_view::npos &&
         (value.find(": ") != std::string_view::npos || value.ends_with(':'));
}

// Whether YAML takes the end of an unquoted description for a comment: `Use for C # and F #`.
bool DescriptionHasComment(std::string_view yaml) {
  constexpr std::string_view kDescription = "description:";
  const std::vector<std::string_view> lines = SplitLines(yaml);
  return std::any_of(lines.begin(), lines.end(), [&](std::string_view line) {
    if (!line.starts_with(kDescription)) return false;
    const std::string_view value = Trim(line.substr(kDescription.size()));
    return value.find_first_of("\"'|>") != 0 && value.find(" #") != std::string_view::npos;
  });
}

struct QuotedYaml {
  std::string text;
  std::size_t first_line = 0;  // the first line that has been changed; 0: none
};

// The text with such values of top-level keys in quotes, as agents read them once YAML has failed. Values that go on in
// the next line stay.
QuotedYaml WithQuotedValues(std::string_view yaml) {
  const std::vector<std::string_view> lines = SplitLines(yaml);
  QuotedYaml quoted;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const std::size_t colon = line.find(": ");
    const bool goes_on = i + 1 < lines.size() && (lines[i + 1].starts_with(' ') || lines[i + 1].starts_with('\t')) &&
                         !Trim(lines[i + 1]).empty();
    const std::string_view value = colon == std::string_view::npos ? "" : Trim(line.substr(colon + 1));
    const bool is_key = colon != 0 && colon != std::string_view::npos &&
                        std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon),
                                    [](char c) { return IsAsciiAlphanumeric(c) || c == '-' || c == '_'; });
    if (!is_key || goes_on || !IsMistakenForKey(value)) {
      quoted.text += std::string(line) + "\n";
      continue;
    }
    if (quoted.first_line == 0) quoted.first_line = i + 1;
    quoted.text += std::string(line.substr(0, colon)) + ": '";
    for (const char c : value) quoted.text += c == '\'' ? "''" : std::string(1, c);
    quoted.text += "'\n";
  }
  return quoted;
}

// The lines of all top-level fields except name and description.
std::string OtherFields(const YAML::Node& root, std::string_view yaml) {
  struct Field {
    std::size_t line;
    bool other;
  };
  std::vector<Field> fields;
  for (const auto& field : root) {
    const YAML::Mark mark = field.first.Mark();
    if (mark.is_null() || mark.column != 0 || !field.first.IsScalar()) return "";
    const std::string& key = field.first.Scalar();
    fields.push_back({static_cast<std::size_t>(mark.line), key != "name" && key != "description"});
  }
  std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.line < b.line; });
  const std::vector<std::string_view> lines = SplitLines(yaml);
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? fields[i + 1].line : lines.size();
    if (end == fields[i].line) return "";
    for (std::size_t line = fields[i].line; fields[i].other && line < std::min(end, lines.size()); ++line)
      text += std::string(lines[line]) + "\n";
  }
  return text;
}

bool IsSpecifiedName(std::string_view name) {
  const bool characters = std::all_of(
      name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  return characters && !name.starts_with('-') && !name.ends_with('-') && name.find("--") == std::string_view::npos;
}

std::vector<std::string> FindWarnings(const Skill& fields, const std::string& source) {
  std::vector<std::string> warnings;
  const std::string& name = fields.name;
  if (name.empty()) {
    warnings.push_back(fmt::format("{}: no \"name\" in the frontmatter; using the folder's name", source));
  } else if (!IsSpecifiedName(name) || name.size() > 64) {
    warnings.push_back(fmt::format("{}: name \"{}\" should be 1 to 64 lowercase letters, digits and single hyphens",
                                   source, ExcerptLine(name, 80)));
  }
  if (CountCodePoints(fields.description) > 1024) {
    warnings.push_back(fmt::format("{}: the description is longer than 1,024 characters", source));
  }
  return warnings;
}

// `text`: the YAML that is parsed; `yaml`: that of the file, whose lines are the same.
Result<Skill> ReadFields(const std::string& text, std::string_view yaml, const std::string& source) {
  try {
    if (const std::optional<YamlFault> fault = FindOpenQuote(text)) {
      return InputError(
          fmt::format("{}:{}:{}: {}", source, fault->line + kFirstLine - 1, fault->column, fault->reason));
    }
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) {
      return InputError(
          fmt::format("{}:{}: the frontmatter must be a map such as `name: my-skill`", source, kFirstLine));
    }
    Skill fields;
    ASSIGN_OR_RETURN(fields.name, TextField(root, "name", source));
    ASSIGN_OR_RETURN(fields.description, TextField(root, "description", source));
    fields.other_fields = OtherFields(root, yaml);
    fields.warnings = FindWarnings(fields, source);
    return fields;
  } catch (const YAML::Exception& e) {
    return ErrorAt(source, e.mark, PlainYamlReason(e.msg));
  } catch (const std::exception& e) {
    return InputError(fmt::format("{}: {}", source, e.what()));
  }
}

}  // namespace

Result<SkillParts> SplitFrontmatter(std::string_view text, const std::string& source) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const auto bad = FindInvalidUtf8(text)) {
    const TextPosition position = PositionAt(text, *bad);
    return InputError(fmt::format("{}:{}:{}: not UTF-8 text", source, position.line, position.column));
  }
  const std::size_t first_end = text.find('\n');
  if (Trim(text.substr(0, first_end)) != "---" || !text.starts_with("---")) {
    return InputError(
        fmt::format("{}:1: must start with YAML frontmatter: a line ---, then name and description, "
                    "then a line ---",
                    source));
  }
  const std::size_t start = std::min(first_end, text.size() - 1) + 1;
  for (std::size_t line = start; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    if (text.substr(line, 3) == "---" && Trim(text.substr(line, end - line)) == "---") {
      const std::string_view yaml = text.substr(start, line - start);
      if (yaml.size() > kMaxFrontmatterBytes) {
        return InputError(fmt::format("{}: the frontmatter is larger than 64 KiB", source));
      }
      return SkillParts{yaml, Trim(text.substr(end))};
    }
    line = end + 1;
  }
  return InputError(fmt::format("{}:1: the frontmatter is not closed; end it with a line ---", source));
}

Result<Skill> ParseFrontmatter(std::string_view yaml, const std::string& source) {
  if (const auto bad = FindControlCharacter(yaml)) {
    const TextPosition position = PositionAt(yaml, *bad);
    return InputError(fmt::format("{}:{}:{}: control character in the frontmatter", source,
                                  position.line + kFirstLine - 1, position.column));
  }
  Result<Skill> fields = ReadFields(std::string(yaml), yaml, source);
  if (fields && DescriptionHasComment(yaml)) {
    fields->warnings.push_back(fmt::format(
        "{}: the description ends before \" #\", where YAML begins a comment: put the description in quotes", source));
  }
  if (fields) return fields;
  const QuotedYaml quoted = WithQuotedValues(yaml);
  if (quoted.first_line == 0) return fields;
  Result<Skill> lenient = ReadFields(quoted.text, yaml, source);
  if (!lenient) return fields;
  lenient->warnings.push_back(fmt::format(
      "{}:{}: not valid YAML; read as text, as many agents do, but others reject it: put the value in quotes", source,
      quoted.first_line + kFirstLine - 1));
  return lenient;
}

}  // namespace upskill
