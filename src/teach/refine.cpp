// SPDX-License-Identifier: Apache-2.0
#include "teach/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "teach/contradiction.h"
#include "teach/draft.h"
#include "teach/one_line.h"
#include "trace/digest/digest.h"
#include "trace/digest/excerpt.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxPassing = 3;

Json ProposalsSchema(std::size_t most) {
  const Json edit = {{"type", "object"},
                     {"properties", {{"find", StringSchema(500)}, {"replace", StringSchema(0)}}},
                     {"required", {"find", "replace"}},
                     {"additionalProperties", false}};
  const Json proposal = {{"type", "object"},
                         {"properties",
                          {{"why", StringSchema(500)},
                           {"edits", {{"type", "array"}, {"maxItems", 20}, {"items", edit}}},
                           {"body", StringSchema(0)}}},
                         {"required", {"why", "edits", "body"}},
                         {"additionalProperties", false}};
  return {
      {"type", "object"},
      {"properties", {{"proposals", {{"type", "array"}, {"minItems", 1}, {"maxItems", most}, {"items", proposal}}}}},
      {"required", {"proposals"}},
      {"additionalProperties", false}};
}

std::string AnswerText(const Sample& sample, const Case& test_case, const std::string& student, std::size_t max_bytes) {
  std::string text =
      fmt::format("Request to {}:\n{}\n\nIts answer{}:\n<answer>\n{}\n</answer>\n", student, Trim(test_case.input),
                  sample.response.stop == StopReason::kLength ? " (cut off at the token limit)" : "",
                  HeadAndTail(sample.response.text, max_bytes));
  for (const CheckResult& check : sample.checks) {
    if (check.outcome != Outcome::kPass)
      text += fmt::format("Failed check: {}{}\n", check.name, check.detail.empty() ? "" : ": " + check.detail);
  }
  return text + "\n";
}

bool IsKnown(const std::string& body, const std::vector<Candidate>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](const Candidate& candidate) { return Trim(candidate.skill.body) == Trim(body); });
}

std::string Tried(const std::vector<Candidate>& known) {
  std::string text;
  for (const Candidate& candidate : known) {
    if (candidate.why.empty()) continue;
    text += fmt::format("- {}: {}\n", CutToColumns(OneLine(candidate.why), 200), candidate.status);
  }
  return text;
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
  if (proposal.kind == "edit") {
    ASSIGN_OR_RETURN(proposal.body, ApplyEdits(candidate.skill.body, json.at("edits")));
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

std::string FailuresText(const Trial& trial, std::size_t budget_tokens) {
  const Plan& plan = trial.judged.plan();
  std::map<std::string, const Case*> cases;
  for (const Case& test_case : plan.suite.cases) cases[test_case.id] = &test_case;
  std::map<std::string, std::string> names;
  for (const Student& student : plan.students) names[student.spec] = student.name;
  std::string failures;
  std::string passing;
  std::size_t failed = 0;
  std::size_t shown = 0;
  std::size_t neighbours = 0;
  for (const Sample* sample : trial.judged.data.samples()) {
    if (!sample->ok() || sample->arm != Arm::kSkill) continue;
    const std::string text = AnswerText(*sample, *cases.at(sample->case_id), names[sample->student], 3 * budget_tokens);
    const bool fits = EstimateTokens(failures) + EstimateTokens(text) <= budget_tokens;
    if (sample->passed()) {
      if (neighbours < kMaxPassing && EstimateTokens(passing) + EstimateTokens(text) <= budget_tokens / 4) {
        passing += text;
        ++neighbours;
      }
      continue;
    }
    ++failed;
    if (!fits && !failures.empty()) continue;
    failures += text;
    ++shown;
  }
  std::string result = failed == 0 ? "No answer failed.\n\n"
                                   : fmt::format("Failing answers ({} of {} shown):\n\n", shown, failed) + failures;
  if (!passing.empty()) result += "Passing answers:\n\n" + passing;
  return result;
}

Result<std::string> ApplyEdits(std::string body, const Json& edits) {
  for (const Json& edit : edits) {
    const std::string find = JsonGet<std::string>(edit, "find", "");
    const std::string replace = JsonGet<std::string>(edit, "replace", "");
    const std::size_t at = find.empty() ? std::string::npos : body.find(find);
    const std::string shown = CutToColumns(OneLine(find), 60);
    if (at == std::string::npos) return InputError(fmt::format("the text to replace isn't in the skill: {}", shown));
    if (body.find(find, at + 1) != std::string::npos)
      return InputError(fmt::format("the text to replace occurs in the skill more than once: {}", shown));
    body.replace(at, find.size(), replace);
  }
  return body;
}

Result<ProposalsOutcome> ProposeChanges(Teacher& teacher, const Material& material, const Candidate& candidate,
                                        const std::string& failures, const std::vector<Candidate>& known,
                                        const RefineOptions& options, int attempt) {
  std::string items = ItemsText(material, 0, material.items.size());
  if (EstimateTokens(items) > options.context_tokens / 2) {
    ASSIGN_OR_RETURN(items, FitItems(teacher, material, options.context_tokens, *options.prompts));
    if (EstimateTokens(items) > options.context_tokens / 2)
      items = HeadAndTail(items, options.context_tokens / 2 * kBytesPerToken);
  }
  PromptValues values = ValuesOf(material, items);
  values["skill"] = candidate.skill.body;
  values["failures"] = std::string(Trim(failures));
  values["tried"] = Tried(known);
  values["count"] = options.candidates == 1 ? "one change"
                                            : Counted(options.candidates, "different change") +
                                                  ", the most promising first; each is tried on its own";
  values["tokens"] = std::to_string(options.target.tokens);
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
