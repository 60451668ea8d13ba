// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_text.h"

#include <fmt/format.h>

#include <set>

#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileNameBytes = 100;

bool IsNameCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool HasControlCharacters(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) return true;
  }
  return false;
}

void FindFileProblems(const std::vector<std::pair<std::string, std::string>>& files, const char* folder,
                      std::vector<std::string>& problems) {
  std::set<std::string> names;
  for (const auto& [name, text] : files) {
    const std::string shown = name.substr(0, kMaxFileNameBytes);
    const bool plain = !name.empty() && name.size() <= kMaxFileNameBytes && name.front() != '.' &&
                       name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
                           std::string::npos;
    if (!plain) problems.push_back(fmt::format("{}/: '{}' is not a plain file name", folder, shown));
    if (!names.insert(ToLowerAscii(name)).second) problems.push_back(fmt::format("{}/{}: listed twice", folder, shown));
    if (FindInvalidUtf8(text)) problems.push_back(fmt::format("{}/{}: not valid UTF-8", folder, shown));
  }
}

// Whether UTF-8 has U+0080 to U+009F, U+FFFE or U+FFFF (not printable in YAML 1.1 and 1.2, section 5.1), or characters
// that reorder text (U+202A to U+202E, U+2066 to U+2069).
bool HidesText(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned first = byte(i);
    const unsigned second = byte(i + 1);
    const unsigned third = byte(i + 2);
    if (first == 0xC2 && second >= 0x80 && second <= 0x9F) return true;
    if (first == 0xEF && second == 0xBF && third >= 0xBE) return true;
    if (first == 0xE2 && second == 0x80 && third >= 0xAA && third <= 0xAE) return true;
    if (first == 0xE2 && second == 0x81 && third >= 0xA6 && third <= 0xA9) return true;
  }
  return false;
}

}  // namespace

std::string YamlQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' || c == '\t' ? ' ' : c;
  }
  return quoted + "\"";
}

std::string SkillNameProblem(const std::string& name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > kMaxNameCharacters)
    return fmt::format("the name has {} characters, at most {} are allowed", name.size(), kMaxNameCharacters);
  bool hyphen = true;  // no hyphen at the start
  for (const char c : name) {
    if (c == '-' ? hyphen : !IsNameCharacter(c)) {
      return fmt::format("the name '{}' may only contain the letters a to z, digits and single hyphens between them",
                         name);
    }
    hyphen = c == '-';
  }
  return hyphen ? fmt::format("the name '{}' ends in a hyphen", name) : "";
}

std::vector<std::string> FindSkillProblems(const SkillText& skill) {
  std::vector<std::string> problems;
  if (std::string problem = SkillNameProblem(skill.name); !problem.empty()) problems.push_back(std::move(problem));
  const bool readable = !FindInvalidUtf8(skill.description) && !FindInvalidUtf8(skill.body);
  if (!readable) problems.emplace_back("the text is not valid UTF-8");
  if (Trim(skill.description).empty()) problems.emplace_back("the description is empty");
  if (readable && CountCodePoints(skill.description) > kMaxDescriptionCharacters) {
    problems.push_back(fmt::format("the description has {} characters, at most {} are allowed",
                                   CountCodePoints(skill.description), kMaxDescriptionCharacters));
  }
  // Readers that split at any `---` would take the rest for the body.
  if (skill.description.find("---") != std::string::npos)
    problems.emplace_back("the description contains '---', which ends the frontmatter");
  if (HasControlCharacters(skill.description) || HasControlCharacters(skill.body))
    problems.emplace_back("the text contains control characters");
  if (HidesText(skill.description)) {
    problems.emplace_back(
        "the description contains characters that YAML doesn't allow or that change the direction of text");
  }
  const std::string_view body = Trim(skill.body);
  if (body.empty()) problems.emplace_back("the body is empty");
  if (body.starts_with("---")) problems.emplace_back("the body starts with frontmatter of its own");
  FindFileProblems(skill.references, "references", problems);
  FindFileProblems(skill.scripts, "scripts", problems);
  return problems;
}

std::string SkillNameFrom(std::string_view text) {
  constexpr std::size_t kMaxWords = 6;
  std::string name;
  std::size_t words = 1;
  for (const char c : ToLowerAscii(text)) {
    if (IsNameCharacter(c)) {
      if (name.size() == kMaxNameCharacters) break;
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      if (words++ == kMaxWords || name.size() == kMaxNameCharacters) break;
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "skill" : name;
}

std::string SkillFileText(const SkillText& skill) {
  return fmt::format("---\nname: {}\ndescription: {}\n{}---\n\n{}\n", skill.name, YamlQuoted(Trim(skill.description)),
                     skill.other_fields, Trim(skill.body));
}

Status WriteSkillFolder(const SkillText& skill, const Folder& folder) {
  const std::vector<std::string> problems = FindSkillProblems(skill);
  if (!problems.empty()) return InputError("not a valid skill: " + problems.front());
  for (const auto& [sub, files] : {std::pair{"references", &skill.references}, std::pair{"scripts", &skill.scripts}}) {
    for (const auto& [name, text] : *files) RETURN_IF_ERROR(folder.WriteFile(fs::path(sub) / name, text));
  }
  return folder.WriteFile("SKILL.md", SkillFileText(skill));
}

}  // namespace upskill
