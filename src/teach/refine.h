// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/skill_text.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "teach/trial.h"
#include "trace/digest/digest.h"
#include "util/result.h"

namespace upskill {

// The students' failing answers in a trial, in full, with the checks they failed, followed by a few passing answers, as
// far as `budget_tokens` allow. Answers that don't fit are left out and counted; only an answer that exceeds the budget
// by itself is shortened in the middle.
std::string FailuresText(const Trial& trial, std::size_t budget_tokens);

// A change that the teacher proposes.
struct Proposal {
  std::string why;
  std::string kind;  // "edit" or "rewrite"
  std::string body;
};

struct RefineOptions {
  std::size_t candidates = 2;  // proposals per attempt
  const Prompts* prompts = &BuiltInPrompts();
  BodyTarget target;
  std::size_t context_tokens = kDefaultDigestTokens;
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

// The body with the edits applied. Error (kInput): a `find` doesn't occur exactly once.
Result<std::string> ApplyEdits(std::string body, const Json& edits);

}  // namespace upskill
