// SPDX-License-Identifier: Apache-2.0
#include "teach/draft.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "teach/contradiction.h"
#include "teach/one_line.h"
#include "teach/read_parts.h"
#include "teach/weak_teacher.h"
#include "trace/digest/digest.h"
#include "trace/digest/excerpt.h"
#include "trace/redact/redact.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxFileBytes = 60'000;
constexpr std::size_t kMaxDraftTokens = 8192;
constexpr std::size_t kShownOfRule = 100;  // columns

// A plain name, as FindSkillProblems asks for.
Json FilesSchema(bool tight) {
  return {{"type", "array"},
          {"maxItems", tight ? 0 : 8},
          {"items",
           {{"type", "object"},
            {"properties",
             {{"file", {{"type", "string"}, {"pattern", "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"}}},
              {"text", StringSchema(0)}}},
            {"required", {"file", "text"}},
            {"additionalProperties", false}}}};
}

std::string DraftPrompt(const Material& material, const std::string& items, const DraftOptions& options,
                        const std::string& problem, const std::string& rejected) {
  PromptValues values = ValuesOf(material, items);
  if (material.has_existing()) {
    values["existing"] = fmt::format("name: {}\ndescription: {}\n\n{}", material.existing.name,
                                     material.existing.description, Trim(material.existing.body));
  }
  values["students"] = options.students;
  values["tokens"] = std::to_string(options.target.tokens);
  values["asks_name"] = options.name.empty() ? "yes" : "";
  values["problem"] = problem;
  values["rejected"] = rejected;
  return options.prompts->Render("draft", values);
}

std::string Flat(std::string_view text) {
  std::string flat;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') flat += c;
  }
  return flat;
}

// What a teacher calls a skill need not follow the rules for names.
std::string PossibleName(const std::string& name) {
  return SkillNameProblem(name).empty() ? name : SkillNameFrom(name);
}

// "- so", "* so", "12. so": a line that Markdown keeps apart from the next one.
bool IsListItem(std::string_view text) {
  if (text.starts_with("- ") || text.starts_with("* ") || text.starts_with("+ ")) return true;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && (text.substr(digits).starts_with(". ") || text.substr(digits).starts_with(") "));
}

}  // namespace

SkillText DraftToSkill(const Draft& draft) {
  SkillText skill{draft.name, draft.description, "", draft.references, draft.scripts, ""};
  for (const Section& section : draft.sections) {
    if (!skill.body.empty()) skill.body += '\n';
    if (!section.title.empty()) skill.body += "# " + section.title + "\n\n";
    bool item = false;  // the rule before is an item of a list, on one line: the next one may follow at once
    for (const Rule& rule : section.rules) {
      const std::string text(Trim(rule.text));
      const bool is_item = text.find('\n') == std::string::npos && IsListItem(text);
      const bool is_first = &rule == &section.rules.front();
      skill.body += (!is_first && !(item && is_item) ? "\n" : "") + text + "\n";
      item = is_item;
    }
  }
  return skill;
}

Json StringSchema(std::size_t most) {
  Json schema = {{"type", "string"}};
  if (most > 0) schema["maxLength"] = most;
  return schema;
}

PromptValues ValuesOf(const Material& material, const std::string& items) {
  return {{"task", material.task},
          {"examples", std::string(Trim(ExamplesText(material)))},
          {"material", std::string(Trim(items))}};
}

Json DraftSchema(const Material& material, std::size_t tight_tokens, bool asks_name) {
  const bool tight = tight_tokens > 0;
  const std::size_t sections = tight ? std::clamp<std::size_t>(tight_tokens / 150, 1, 3) : 20;
  const std::size_t rules = tight ? std::clamp<std::size_t>(tight_tokens / 50, 1, 4) : 40;
  constexpr std::size_t kMaxIds = 300;  // in an enumeration; servers limit its length
  Json id = StringSchema(20);
  const bool enumerate = tight && !material.items.empty() && material.items.size() <= kMaxIds;
  if (enumerate) {
    id["enum"] = Json::array();
    for (const MaterialItem& item : material.items) id["enum"].push_back(item.id);
    id.erase("maxLength");
  }
  const Json cites = {{"type", "array"}, {"minItems", enumerate ? 1 : 0}, {"maxItems", tight ? 2 : 12}, {"items", id}};
  const Json rule = {{"type", "object"},
                     {"properties", {{"text", StringSchema(tight ? 300 : 0)}, {"cites", cites}}},
                     {"required", {"text", "cites"}},
                     {"additionalProperties", false}};
  const Json section = {{"type", "object"},
                        {"properties",
                         {{"title", StringSchema(tight ? 40 : 120)},
                          {"rules", {{"type", "array"}, {"minItems", 1}, {"maxItems", rules}, {"items", rule}}}}},
                        {"required", {"title", "rules"}},
                        {"additionalProperties", false}};
  Json description = StringSchema(tight ? 200 : 1024);
  description["minLength"] = 1;
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  const auto ask_for = [&schema](const char* key, const Json& value) {
    schema["properties"][key] = value;
    schema["required"].push_back(key);
  };
  if (asks_name) ask_for("name", StringSchema(64));
  ask_for("description", description);
  ask_for("sections", {{"type", "array"}, {"minItems", 1}, {"maxItems", sections}, {"items", section}});
  ask_for("references", FilesSchema(tight));
  ask_for("scripts", FilesSchema(tight));
  schema["additionalProperties"] = false;
  return schema;
}

Result<Draft> DraftFromJson(const Json& json, const Material& material, const BodyTarget& target) {
  Draft draft;
  draft.name = JsonGet<std::string>(json, "name", "");
  draft.description = JsonGet<std::string>(json, "description", "");
  std::set<std::string> known;
  for (const MaterialItem& item : material.items) known.insert(item.id);
  for (const Json& from : json.at("sections")) {
    Section section;
    section.title = OneLine(Trim(JsonGet<std::string>(from, "title", "")));
    for (const Json& rule_json : from.at("rules")) {
      Rule rule;
      rule.text = std::string(Trim(JsonGet<std::string>(rule_json, "text", "")));
      if (rule.text.empty()) continue;
      for (const Json& cite : rule_json.at("cites")) {
        if (cite.is_string() && known.contains(cite.get<std::string>())) rule.cites.push_back(cite);
      }
      if (!known.empty() && rule.cites.empty()) {
        ++draft.uncited;
        continue;
      }
      if (const std::string id = ContradictedBy(rule.text, material); !id.empty()) {
        draft.contradicted.push_back(fmt::format("{} ({})", rule.text, id));
        continue;
      }
      section.rules.push_back(std::move(rule));
    }
    if (!section.rules.empty()) draft.sections.push_back(std::move(section));
  }
  for (const auto& [key, files] : {std::pair{"references", &draft.references}, std::pair{"scripts", &draft.scripts}}) {
    for (const Json& file : json.value(key, Json::array())) {
      files->emplace_back(JsonGet<std::string>(file, "file", ""), JsonGet<std::string>(file, "text", ""));
    }
  }
  if (draft.sections.empty()) {
    if (!draft.contradicted.empty())
      return InputError("the material contradicts its rules, for example: " +
                        CutToColumns(OneLine(draft.contradicted.front()), kShownOfRule));
    return InputError(draft.uncited > 0 ? "no rule cites an item of the material by its id" : "the skill has no rules");
  }
  if (SaysNothing(draft.description)) return InputError("the description doesn't say what the skill is for");
  RETURN_IF_ERROR(CheckSkillText(DraftToSkill(draft), material, target));
  return draft;
}

Status CheckSkillText(const SkillText& skill, const Material& material, const BodyTarget& target) {
  const std::vector<std::string> problems = FindSkillProblems(skill);
  if (!problems.empty()) return InputError(problems.front());
  const std::size_t tokens = target.count(skill.body);
  if (tokens > MostTokens(target))
    return InputError(fmt::format("the body has about {} tokens; at most {} are allowed, and the target is {}", tokens,
                                  MostTokens(target), target.tokens));
  std::string all = skill.description + "\n" + skill.body;
  for (const auto* files : {&skill.references, &skill.scripts}) {
    for (const auto& [name, text] : *files) {
      if (text.size() > kMaxFileBytes)
        return InputError(fmt::format("the file {} has {} bytes; the maximum is {}", name, text.size(), kMaxFileBytes));
      all += "\n" + text;
    }
  }
  if (const std::vector<SecretSpan> secrets = FindSecrets(all, {}); !secrets.empty()) {
    return InputError(fmt::format("it contains a secret ({})", secrets.front().kind));
  }
  if (const std::string harm = FindHarm(all, material); !harm.empty()) return InputError(harm);
  return {};
}

std::string FindHarm(const std::string& text, const Material& material) {
  static const RE2 harm_pattern(
      R"((?i)((?:curl|wget|fetch)\b[^\n|;]{0,400}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|base64\s+(?:-d|--decode)[^\n|;]{0,200}\|\s*(?:ba|z|da)?sh\b|)"
      R"(\brm\s+-[a-z]*r[a-z]*\s+(?:--no-preserve-root\s+)?(?:/|~|\$HOME)(?:\s|$|\*|/\s|/\*)|)"
      R"((?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:the\s+)?(?:previous|prior|above|earlier|other)\s+(?:instructions|rules|prompts)|)"
      R"(:\(\)\s*\{\s*:\|:&\s*\};:))");
  re2::StringPiece rest(text);
  re2::StringPiece found;
  while (RE2::FindAndConsume(&rest, harm_pattern, &found)) {
    const std::string flat = Flat(std::string_view(found.data(), found.size()));
    const bool in_material = std::any_of(material.items.begin(), material.items.end(), [&](const MaterialItem& item) {
      return Flat(item.text).find(flat) != std::string::npos;
    });
    if (!in_material) {
      return fmt::format("it contains a dangerous instruction that isn't in the material: {}",
                         OneLine(std::string_view(found.data(), std::min<std::size_t>(found.size(), 100))));
    }
  }
  return "";
}

Result<Draft> WriteDraft(Teacher& teacher, const Material& material, const DraftOptions& options) {
  ASSIGN_OR_RETURN(const std::string items, FitItems(teacher, material, options.context_tokens, *options.prompts));
  std::string problem;
  std::string rejected;  // the answer that has it; empty: it wasn't even readable
  for (int attempt = 0; attempt < options.tries; ++attempt) {
    // A shorter answer is easier to read, and a grammar can force a model in process to cite items.
    const bool tight = attempt > 0 && (rejected.empty() || teacher.info().in_process);
    TeacherCall call{"draft", options.prompts->Render("draft-system"),
                     DraftPrompt(material, items, options, problem, rejected),
                     DraftSchema(material, tight ? options.target.tokens : 0, options.name.empty()), attempt};
    call.max_tokens = static_cast<int>(std::min<std::size_t>(
        tight ? 1000 + 5 * options.target.tokens : 2000 + 10 * options.target.tokens, kMaxDraftTokens));
    const Result<Json> answer = teacher.Ask(call);
    if (!answer && answer.error().kind != ErrorKind::kInput) return answer.error();
    Result<Draft> draft = answer ? Result<Draft>(InputError("")) : Result<Draft>(answer.error());
    if (answer) {
      Json json = *answer;
      json["name"] = options.name.empty() ? PossibleName(JsonGet<std::string>(json, "name", "")) : options.name;
      draft = DraftFromJson(json, material, options.target);
    }
    if (draft) return draft;
    problem = draft.error().message;
    rejected = answer ? HeadAndTail(DumpJson(*answer), options.context_tokens / 4 * kBytesPerToken) : "";
  }
  return InputError(fmt::format("it gave no usable skill in {}; {}",
                                Counted(static_cast<std::size_t>(options.tries), "attempt"), problem));
}

}  // namespace upskill
