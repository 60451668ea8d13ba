// SPDX-License-Identifier: Apache-2.0
#include "teach/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "teach/contradiction.h"
#include "teach/draft.h"
#include "teach/one_line.h"
#include "teach/read_parts.h"
#include "trace/digest/digest.h"
#include "trace/digest/excerpt.h"
#include "util/percent.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

Json ProposalsSchema(std::size_t most) {
  const Json edit = {{"type", "object"},
                     {"properties", {{"find", StringSchema(500)}, {"replace", StringSchema(0)}}},
                     {"required", {"find", "replace"}},
                     {"additionalProperties", false}};
  const Json proposal = {{"type", "object"},
                         {"properties",
                          {{"why", StringSchema(500)},
                           {"edits", {{"type", "array"}, {"maxItems", 20}, {"items", edit}}},
                           {"body", StringSchema(0)},
                           {"cites", {{"type", "array"}, {"maxItems", 20}, {"items", StringSchema(20)}}}}},
                         {"required", {"why", "edits", "body", "cites"}},
                         {"additionalProperties", false}};
  return {
      {"type", "object"},
      {"properties", {{"proposals", {{"type", "array"}, {"minItems", 1}, {"maxItems", most}, {"items", proposal}}}}},
      {"required", {"proposals"}},
      {"additionalProperties", false}};
}

bool IsKnown(const std::string& body, const std::vector<Candidate>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](const Candidate& candidate) { return Trim(candidate.skill.body) == Trim(body); });
}

std::vector<std::string> KnownCites(const Json& json, const Material& material) {
  std::vector<std::string> cites;
  for (const Json& id : json.value("cites", Json::array())) {
    const bool known =
        id.is_string() && std::any_of(material.items.begin(), material.items.end(), [&](const MaterialItem& item) {
          return item.id == id.get_ref<const std::string&>();
        });
    if (known) cites.push_back(id.get<std::string>());
  }
  return cites;
}

// A line that the change adds and the material contradicts; empty: none.
std::string Contradiction(const std::string& body, const std::string& before, const Material& material) {
  for (const std::string_view line : SplitLines(body)) {
    if (before.find(line) != std::string::npos) continue;
    const std::string id = ContradictedBy(std::string(line), material);
    if (!id.empty()) return fmt::format("{} of the material contradicts it: {}", id, CutToColumns(OneLine(line), 100));
  }
  return "";
}

// A proposal that can be tried. Error (kInput): why it can't.
Result<Proposal> ReadProposal(const Json& json, const Candidate& candidate, const std::vector<Candidate>& known,
                              const std::vector<Proposal>& others, const Material& material, const BodyTarget& target) {
  Proposal proposal;
  proposal.why = JsonGet<std::string>(json, "why", "");
  proposal.body = JsonGet<std::string>(json, "body", "");
  proposal.kind = Trim(proposal.body).empty() ? "edit" : "rewrite";
  const std::vector<std::string> cites = KnownCites(json, material);
  if (proposal.kind == "edit") {
    ASSIGN_OR_RETURN(CitedBody edited, ApplyEdits({candidate.skill.body, candidate.rules}, json.at("edits"), cites));
    proposal.body = std::move(edited.body);
    proposal.rules = std::move(edited.rules);
  } else {
    proposal.rules = RulesOfRewrite(proposal.body, candidate.rules, cites);
  }
  const auto is_same = [&](const Proposal& other) { return Trim(other.body) == Trim(proposal.body); };
  if (IsKnown(proposal.body, known) || std::any_of(others.begin(), others.end(), is_same))
    return InputError("it was tried before");
  const std::string contradiction = Contradiction(proposal.body, candidate.skill.body, material);
  if (!contradiction.empty()) return InputError(contradiction);
  SkillText changed = candidate.skill;
  changed.body = proposal.body;
  RETURN_IF_ERROR(CheckSkillText(changed, material, target));
  return proposal;
}

}  // namespace

Result<CitedBody> ApplyEdits(CitedBody skill, const Json& edits, const std::vector<std::string>& cites) {
  for (const Json& edit : edits) {
    const std::string find = JsonGet<std::string>(edit, "find", "");
    const std::string replace = JsonGet<std::string>(edit, "replace", "");
    const std::size_t at = find.empty() ? std::string::npos : skill.body.find(find);
    const std::string shown = CutToColumns(OneLine(find), 60);
    if (at == std::string::npos) return InputError(fmt::format("the text to replace isn't in the skill: {}", shown));
    if (skill.body.find(find, at + 1) != std::string::npos)
      return InputError(fmt::format("the text to replace occurs in the skill more than once: {}", shown));
    skill.rules = RulesAfterEdit(skill.body, at, find.size(), replace, skill.rules, cites);
    skill.body.replace(at, find.size(), replace);
  }
  return skill;
}

std::string LeftOutText(const std::vector<std::string>& unsupported, const std::vector<std::string>& contradicted,
                        std::size_t budget_tokens) {
  std::string text;
  for (const auto& [rules, reason] :
       {std::pair{&unsupported, "it says nothing, or the items that it cites don't show it"},
        std::pair{&contradicted, "the material contradicts it"}}) {
    for (const std::string& rule : *rules) {
      const std::string one = fmt::format("<rule why=\"{}\">\n{}\n</rule>\n", reason, Trim(rule));
      if (EstimateTokens(text) + EstimateTokens(one) <= budget_tokens) text += one;
    }
  }
  return text;
}

std::string TriedText(const std::vector<Candidate>& known, int best, std::size_t budget_tokens) {
  std::string text;
  for (const Candidate& candidate : std::ranges::reverse_view(known)) {
    if (candidate.parent < 0) continue;
    std::string rates;
    for (const double rate : candidate.train)
      rates += fmt::format("{}{:.0f} %", rates.empty() ? "" : ", ", WholePercent(rate));
    text += fmt::format("- candidate {}, a change of candidate {}: {}\n  outcome: {}\n", candidate.id, candidate.parent,
                        OneLine(candidate.why),
                        candidate.measured ? fmt::format("passes {} of the train tests", rates) : candidate.status);
    for (const auto& [cases, what] :
         {std::pair{&candidate.gained_on, "gained"}, std::pair{&candidate.lost_on, "lost"}}) {
      for (const std::string& one : *cases) text += fmt::format("  {}: {}\n", what, one);
    }
    if (candidate.id == best) continue;  // its text is the skill to change
    const std::string body = fmt::format("<candidate>\n{}\n</candidate>\n", Trim(candidate.skill.body));
    if (EstimateTokens(text) + EstimateTokens(body) <= budget_tokens) text += body;
  }
  return text;
}

std::string ItemsWithin(const Material& material, const std::set<std::string>& cited, std::size_t budget_tokens) {
  const std::size_t count = material.items.size();
  std::vector<std::size_t> order;
  for (const bool first : {true, false}) {
    for (std::size_t i = 0; i < count; ++i) {
      if (cited.contains(material.items[i].id) == first) order.push_back(i);
    }
  }
  constexpr std::size_t kNotesTokens = 150;  // DigestReadingNote and the line on what was left out
  const std::size_t budget = budget_tokens - std::min(budget_tokens, kNotesTokens);
  std::size_t used = 0;
  std::map<std::size_t, MaterialItem> kept;
  for (const std::size_t i : order) {
    constexpr std::size_t kHeadingTokens = 20;
    MaterialItem item = material.items[i];
    const std::size_t room = budget - used;
    if (EstimateTokens(item.text) + kHeadingTokens > room) {
      if (room < budget / 4 || room <= kHeadingTokens) continue;
      item.text = Excerpt(item.text, (room - kHeadingTokens) * kBytesPerToken);
    }
    used += std::min(room, EstimateTokens(item.text) + kHeadingTokens);
    kept.emplace(i, std::move(item));
  }
  Material shown;
  for (auto& [i, item] : kept) shown.items.push_back(std::move(item));
  std::string text = ItemsText(shown, 0, shown.items.size());
  if (shown.items.size() == count) return text;
  return text +
         fmt::format("({} of {} left out for lack of space, first those that no failing test and no rule cites.)\n",
                     count - shown.items.size(), Counted(count, "item"));
}

std::string ReferencesText(const SkillText& skill, std::size_t budget_tokens) {
  std::string text;
  for (const auto& [name, content] : skill.references) {
    const std::string whole = fmt::format("<file name=\"references/{}\">\n{}\n</file>\n", name, Trim(content));
    const bool fits = EstimateTokens(text) + EstimateTokens(whole) <= budget_tokens;
    text += fits ? whole
                 : fmt::format("<file name=\"references/{}\">(about {}, not shown)</file>\n", name,
                               Counted(EstimateTokens(content), "token"));
  }
  return text;
}

Result<ProposalsOutcome> ProposeChanges(Teacher& teacher, const Material& material, const Candidate& candidate,
                                        const std::string& failures, const std::vector<Candidate>& known,
                                        const RefineOptions& options, int attempt) {
  const std::size_t half = options.context_tokens / 2;
  std::string items = ItemsText(material, 0, material.items.size());
  if (EstimateTokens(items) > half) {
    ASSIGN_OR_RETURN(const Material fitting, FitMaterial(teacher, material, options.context_tokens, *options.prompts));
    std::set<std::string> cited(options.cited.begin(), options.cited.end());
    for (const Rule& rule : candidate.rules) cited.insert(rule.cites.begin(), rule.cites.end());
    items = ItemsWithin(fitting, cited, half);
  }
  PromptValues values = ValuesOf(material, items);
  values["skill"] = candidate.skill.body;
  values["references"] = ReferencesText(candidate.skill, options.context_tokens / 4);
  values["failures"] = std::string(Trim(failures));
  values["tried"] = TriedText(known, candidate.id, options.context_tokens / 4);
  values["students"] = options.students;
  values["left_out"] = options.left_out;
  values["length"] = std::to_string(options.target.count(candidate.skill.body));
  values["count"] = options.candidates == 1 ? "one change"
                                            : Counted(options.candidates, "different change") +
                                                  ", the most promising first; each is tried on its own";
  // The draft may have needed more than the target.
  values["tokens"] = std::to_string(std::max(options.target.tokens, options.target.count(candidate.skill.body)));
  ASSIGN_OR_RETURN(const Json answer, teacher.Ask({"refine", options.prompts->Render("refine-system"),
                                                   options.prompts->Render("refine", values),
                                                   ProposalsSchema(2 * options.candidates), attempt, 8192}));
  ProposalsOutcome outcome;
  for (const Json& json : answer.at("proposals")) {
    if (outcome.proposals.size() == options.candidates) break;
    Result<Proposal> proposal = ReadProposal(json, candidate, known, outcome.proposals, material, options.target);
    if (proposal) {
      outcome.proposals.push_back(*std::move(proposal));
    } else {
      outcome.discarded.push_back(proposal.error().message);
    }
  }
  return outcome;
}

}  // namespace upskill
