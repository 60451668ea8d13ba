// SPDX-License-Identifier: Apache-2.0
#include "teach/draft_preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "teach/draft.h"
#include "teach/evidence.h"
#include "teach/one_line.h"
#include "teach/weak_teacher.h"
#include "util/text.h"

namespace upskill {

Result<std::vector<std::string>> PreviewDraft(Json draft, const Material& material, const Prompts& prompts,
                                              const BodyTarget& target) {
  if (draft.at("sections").empty()) return std::vector<std::string>();
  // The generation fills in what isn't asked for.
  draft["name"] = "draft";
  if (Trim(JsonGet<std::string>(draft, "description", "")).empty()) draft["description"] = "The draft's description.";
  BodyTarget wide = target;
  wide.tokens = MostTokens(target);
  ASSIGN_OR_RETURN(Draft kept, DraftFromJson(draft, material, wide));
  const std::vector<std::string> unsupported =
      DropUnsupportedRules(material, PromptCopies(prompts, {"draft-system", "draft", "critique"}, material), kept);
  std::vector<std::string> lines = {
      fmt::format("the body has about {}; the target is {}, and a body of more than {} is rejected",
                  Counted(target.count(DraftToSkill(kept).body), "token"), target.tokens, MostTokens(target))};
  const std::vector<Rule> rules = RulesOf(kept);
  for (const Json& section : draft.at("sections")) {
    for (const Json& rule : section.at("rules")) {
      const std::string text(Trim(JsonGet<std::string>(rule, "text", "")));
      const auto is_in = [&](const std::vector<std::string>& left_out) {
        return std::any_of(left_out.begin(), left_out.end(), [&](const auto& one) { return one.starts_with(text); });
      };
      const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& one) { return one.text == text; });
      if (text.empty() || found != rules.end()) continue;
      lines.push_back(fmt::format("this rule will be left out because {}: {}",
                                  is_in(kept.contradicted) ? "the material contradicts it"
                                  : is_in(unsupported) ? "it states nothing, or the items that it cites don't show it"
                                                       : "it cites no item of the material",
                                  CutToColumns(OneLine(text), 120)));
    }
  }
  return lines;
}

}  // namespace upskill
