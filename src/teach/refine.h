// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/skill_text.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/material.h"
#include "teach/rule.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/result.h"

namespace upskill {

// A change that the teacher proposes.
struct Proposal {
  std::string why;
  std::string kind;  // "edit" or "rewrite"
  std::string body;
  std::vector<Rule> rules;  // of the body
};

struct RefineOptions {
  std::size_t candidates = 2;  // proposals per attempt
  const Prompts* prompts = &BuiltInPrompts();
  BodyTarget target;
  std::size_t context_tokens = kDefaultDigestTokens;
  std::string students;            // who answers, for the teacher: names and the limit of an answer
  std::string left_out;            // LeftOutText
  std::vector<std::string> cited;  // items that the failing tests cite; they are shown first
};

struct ProposalsOutcome {
  std::vector<Proposal> proposals;
  std::vector<std::string> discarded;  // why other proposals were discarded
};

// Asks the teacher for changes to `candidate` based on the students' mistakes. Proposals equal to a body in `known` are
// discarded.
Result<ProposalsOutcome> ProposeChanges(Teacher& teacher, const Material& material, const Candidate& candidate,
                                        const std::string& failures, const std::vector<Candidate>& known,
                                        const RefineOptions& options, int attempt);

// A body and the rules in it.
struct CitedBody {
  std::string body;
  std::vector<Rule> rules;
};

// The body with the edits applied; its rules keep their cites, and those that were changed get `cites` as well. Error
// (kInput): a `find` doesn't occur exactly once.
Result<CitedBody> ApplyEdits(CitedBody skill, const Json& edits, const std::vector<std::string>& cites = {});

// For the teacher: as many whole items as `budget_tokens` allow, in their order: those in `cited` come first, then the
// others from the first on. An item larger than what is left is an excerpt if at least a quarter of the budget is left.
// A line says how many were left out.
std::string ItemsWithin(const Material& material, const std::set<std::string>& cited, std::size_t budget_tokens);

// For the teacher: the skill's references, whole as far as `budget_tokens` allow, otherwise by name and size.
std::string ReferencesText(const SkillText& skill, std::size_t budget_tokens);

// For the teacher: the draft's rules that were left out, each with the reason and its whole text, as far as
// `budget_tokens` allow.
std::string LeftOutText(const std::vector<std::string>& unsupported, const std::vector<std::string>& contradicted,
                        std::size_t budget_tokens);

// For the teacher: the candidates that were made from others, the latest first, each with its outcome, the cases that
// it gained and lost and, as far as `budget_tokens` allow, its text, unless it is the one with the id `best`.
std::string TriedText(const std::vector<Candidate>& known, int best, std::size_t budget_tokens);

}  // namespace upskill
