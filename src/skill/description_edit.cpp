// SPDX-License-Identifier: Apache-2.0
#include "skill/description_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "skill/frontmatter.h"
#include "skill/skill_text.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kKey = "description:";

}  // namespace

std::string DescriptionProblem(const std::string& description) {
  const std::vector<std::string> problems = FindSkillProblems({"a", description, "b", {}, {}, ""});
  return problems.empty() ? "" : problems.front();
}

Result<std::string> WithDescription(const std::string& text, const std::string& description,
                                    const std::string& source) {
  if (const std::string problem = DescriptionProblem(description); !problem.empty()) return InputError(problem);
  ASSIGN_OR_RETURN(const SkillParts parts, SplitFrontmatter(text, source));
  ASSIGN_OR_RETURN(const Skill before, ParseFrontmatter(parts.frontmatter, source));
  const auto start = static_cast<std::size_t>(parts.frontmatter.data() - text.data());
  std::string yaml;
  bool found = false;
  bool inside = false;  // the lines of the old description
  for (std::size_t at = 0; at < parts.frontmatter.size();) {
    const std::size_t end = std::min(parts.frontmatter.find('\n', at), parts.frontmatter.size() - 1) + 1;
    const std::string_view line = parts.frontmatter.substr(at, end - at);
    at = end;
    const bool continues = Trim(line).empty() || line.front() == ' ' || line.front() == '\t';
    inside = inside && continues;
    if (!found && line.starts_with(kKey)) {
      const std::string_view ending = line.ends_with("\r\n") ? "\r\n" : "\n";
      yaml += fmt::format("{} {}{}", kKey, YamlQuoted(description), ending);
      found = true;
      inside = true;
    } else if (!inside) {
      yaml += line;
    }
  }
  std::string edited = text.substr(0, start) + yaml + text.substr(start + parts.frontmatter.size());
  const Result<SkillParts> new_parts = SplitFrontmatter(edited, source);
  const Result<Skill> after =
      new_parts ? ParseFrontmatter(new_parts->frontmatter, source) : Result<Skill>(new_parts.error());
  const bool as_wanted = found && after && after->description == description && after->name == before.name &&
                         after->other_fields == before.other_fields && new_parts->body == parts.body;
  if (!as_wanted) {
    return InputError(fmt::format(
        "{}: its description can't be replaced by a program; put it on lines of its own, `description: …`", source));
  }
  return edited;
}

}  // namespace upskill
