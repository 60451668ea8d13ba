// SPDX-License-Identifier: Apache-2.0
#include "teach/critique.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "skill/skill_text.h"
#include "teach/evidence.h"
#include "teach/one_line.h"
#include "teach/read_parts.h"
#include "teach/taught_code.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxPoints = 40;
constexpr std::size_t kMaxCritiqueTokens = 8192;

// The draft as the teacher reads it again: with the ids that each rule cites.
std::string DraftText(const Draft& draft) {
  std::string text = fmt::format("description: {}\n", OneLine(draft.description));
  for (const Section& section : draft.sections) {
    text += fmt::format("\n# {}\n\n", section.title);
    for (const Rule& rule : section.rules) {
      if (!rule.cites.empty()) text += fmt::format("[{}] ", fmt::join(rule.cites, ", "));
      text += rule.text + "\n";
    }
  }
  for (const auto& [folder, files] :
       {std::pair{"references", &draft.references}, std::pair{"scripts", &draft.scripts}}) {
    for (const auto& [name, content] : *files) text += fmt::format("\n{}/{}:\n{}\n", folder, name, Trim(content));
  }
  return text;
}

int TokensFor(const DraftOptions& options) {
  return static_cast<int>(std::min<std::size_t>(3000 + 10 * options.target.tokens, kMaxCritiqueTokens));
}

}  // namespace

Json CritiqueSchema(const Material& material) {
  Json schema = DraftSchema(material, 0, false);
  schema["properties"]["sections"]["minItems"] = 0;
  schema["properties"]["description"].erase("minLength");
  const Json point = {{"type", "object"},
                      {"properties",
                       {{"kind", {{"type", "string"}, {"enum", {"unsupported", "missing", "stale", "untested"}}}},
                        {"point", StringSchema(500)}}},
                      {"required", {"kind", "point"}},
                      {"additionalProperties", false}};
  schema["properties"]["points"] = {{"type", "array"}, {"maxItems", kMaxPoints}, {"items", point}};
  schema["required"].push_back("points");
  return schema;
}

Result<Critique> CritiqueDraft(Teacher& teacher, const Material& material, const Draft& draft,
                               const DraftOptions& options) {
  ASSIGN_OR_RETURN(const std::string items, FitItems(teacher, material, options.context_tokens, *options.prompts));
  PromptValues values = ValuesOf(material, items);
  values["draft"] = DraftText(draft);
  const SkillText skill = DraftToSkill(draft);
  for (const std::string& problem : FindRejectedCode(skill, DefaultSandbox()))
    values["rejected"] += "- " + problem + "\n";
  if (material.has_existing()) {
    for (const std::string& fact : LostFacts(material.existing, skill)) values["lost"] += "- " + fact + "\n";
  }
  values["length"] = std::to_string(options.target.count(skill.body));
  values["tokens"] = std::to_string(options.target.tokens);
  values["most"] = std::to_string(MostTokens(options.target));
  ASSIGN_OR_RETURN(Json answer, teacher.Ask({"critique", options.prompts->Render("draft-system"),
                                             options.prompts->Render("critique", values), CritiqueSchema(material), 0,
                                             TokensFor(options)}));
  Critique critique;
  for (const Json& point : answer.at("points"))
    critique.points.push_back({JsonGet<std::string>(point, "kind", ""), JsonGet<std::string>(point, "point", "")});
  if (answer.at("sections").empty()) {
    if (!critique.points.empty()) critique.problem = "it has no rules";
    return critique;
  }
  answer["name"] = draft.name;
  if (Trim(JsonGet<std::string>(answer, "description", "")).empty()) answer["description"] = draft.description;
  Result<Draft> fixed = DraftFromJson(answer, material, options.target);
  if (fixed) {
    critique.fixed = *std::move(fixed);
  } else {
    critique.problem = fixed.error().message;
  }
  return critique;
}

std::string CritiqueLine(const Critique& critique) {
  if (critique.points.empty()) return "nothing to correct";
  std::map<std::string, std::size_t> kinds;
  for (const CritiquePoint& point : critique.points) ++kinds[point.kind];
  std::string line = Counted(critique.points.size(), "point");
  for (const auto& [kind, count] : kinds)
    line += fmt::format("{}{} {}", kind == kinds.begin()->first ? ": " : ", ", count, kind);
  return line;
}

Result<std::string> DescribeSkill(Teacher& teacher, const Material& material, const SkillText& skill,
                                  const DraftOptions& options) {
  PromptValues values = ValuesOf(material, "");
  values["description"] = skill.description;
  values["skill"] = skill.body;
  Json description = StringSchema(kMaxDescriptionCharacters);
  description["minLength"] = 1;
  const Json schema = {{"type", "object"},
                       {"properties", {{"description", description}}},
                       {"required", {"description"}},
                       {"additionalProperties", false}};
  ASSIGN_OR_RETURN(const Json answer, teacher.Ask({"describe", options.prompts->Render("draft-system"),
                                                   options.prompts->Render("describe", values), schema, 0, 1000}));
  SkillText changed = skill;
  changed.description = std::string(Trim(JsonGet<std::string>(answer, "description", "")));
  RETURN_IF_ERROR(CheckSkillText(changed, material, options.target));
  return changed.description;
}

}  // namespace upskill
