// SPDX-License-Identifier: Apache-2.0
#include "teach/improve_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "skill/description_edit.h"
#include "skill/skill_text.h"
#include "teach/draft.h"
#include "teach/one_line.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostBodyBytes = 24'000;
constexpr std::size_t kMostQueryBytes = 2'000;
constexpr std::size_t kMostListed = 40;

std::string ListOf(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMostListed; ++i)
    text += fmt::format("{}- {}", text.empty() ? "" : "\n", OneLine(lines[i]));
  return text;
}

PromptValues ValuesOfSkills(const ListedSkills& skills) {
  const Skill& skill = skills.skill;
  return {{"name", skill.name},
          {"description", OneLine(skill.description)},
          {"skill", ReplaceInvalidUtf8(std::string_view(skill.body).substr(0, kMostBodyBytes))},
          {"others", ListOf(skills.others)}};
}

Json QueriesSchema(std::size_t count) {
  const Json list = {{"type", "array"}, {"minItems", 1}, {"maxItems", count}, {"items", StringSchema(kMostQueryBytes)}};
  return {{"type", "object"},
          {"properties", {{"should_trigger", list}, {"should_not_trigger", list}}},
          {"required", {"should_trigger", "should_not_trigger"}},
          {"additionalProperties", false}};
}

Result<std::vector<WrittenQuery>> AskForQueries(Teacher& teacher, const Prompts& prompts, const ListedSkills& skills,
                                                std::size_t count, int attempt) {
  PromptValues values = ValuesOfSkills(skills);
  values["count"] = std::to_string(count);
  constexpr int kTokens = 6'000;
  ASSIGN_OR_RETURN(const Json answer,
                   teacher.Ask({"queries", prompts.Render("activation-system"), prompts.Render("queries", values),
                                QueriesSchema(count), attempt, kTokens}));
  std::vector<WrittenQuery> queries;
  std::set<std::string> seen;
  for (const bool should : {true, false}) {
    const std::size_t before = queries.size();
    for (const Json& text : answer.at(should ? "should_trigger" : "should_not_trigger")) {
      std::string query = text.is_string() ? std::string(Trim(text.get<std::string>())) : "";
      const std::string plain = ToLowerAscii(query);
      const bool names_it = plain.find(ToLowerAscii(skills.skill.name)) != std::string::npos;
      if (query.empty() || names_it || !seen.insert(plain).second) continue;
      queries.push_back({std::move(query), should});
    }
    if (queries.size() == before)
      return InputError(fmt::format("the teacher wrote no usable query that {} the skill",
                                    should ? "should trigger" : "should not trigger"));
  }
  return queries;
}

}  // namespace

Result<std::string> BetterDescription(Teacher& teacher, const Prompts& prompts, const ListedSkills& skills,
                                      const DescriptionTrial& trial, int attempt) {
  PromptValues values = ValuesOfSkills(skills);
  values["missed"] = ListOf(trial.missed);
  values["misled"] = ListOf(trial.misled);
  values["tried"] = ListOf(trial.tried);
  values["characters"] = std::to_string(kMaxDescriptionCharacters);
  Json description = StringSchema(kMaxDescriptionCharacters);
  description["minLength"] = 1;
  const Json schema = {{"type", "object"},
                       {"properties", {{"description", description}}},
                       {"required", {"description"}},
                       {"additionalProperties", false}};
  constexpr int kTokens = 2'000;
  ASSIGN_OR_RETURN(const Json answer,
                   teacher.Ask({"describe-better", prompts.Render("activation-system"),
                                prompts.Render("describe-better", values), schema, attempt, kTokens}));
  std::string text = OneLine(JsonGet<std::string>(answer, "description", ""));
  if (const std::string problem = DescriptionProblem(text); !problem.empty())
    return InputError(fmt::format("the teacher's description can't be used: {}", problem));
  if (text == OneLine(skills.skill.description)) return InputError("the teacher has changed nothing");
  return text;
}

Result<std::vector<WrittenQuery>> WriteQueries(Teacher& teacher, const Prompts& prompts, const ListedSkills& skills,
                                               std::size_t count) {
  // A useless answer that is stored from an earlier time isn't the last word.
  constexpr int kMostAttempts = 100;
  for (int attempt = 0;; ++attempt) {
    const std::size_t before = teacher.answers();
    Result<std::vector<WrittenQuery>> queries = AskForQueries(teacher, prompts, skills, count, attempt);
    const bool useless = !queries && queries.error().kind == ErrorKind::kInput;
    if (!useless || teacher.answers() > before || attempt == kMostAttempts) return queries;
  }
}

}  // namespace upskill
