// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/skill_text.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "teach/trial.h"
#include "trace/digest/digest.h"
#include "util/result.h"

namespace upskill {

// The students' failing answers to the cases of a trial, whole, with the checks they failed, then a few that passed;
// as many as `budget_tokens` hold. What doesn't fit is left out as a whole and counted; only an answer that is longer
// than the budget by itself is shortened in its middle.
std::string FailuresText(const Trial& trial, std::size_t budget_tokens);

// A change that the teacher proposes.
struct Proposal {
  std::string why;
  std::string kind;  // "edit" or "rewrite"
  std::string body;
};

struct RefineOptions {
  std::size_t candidates = 2;  // proposals wanted of one attempt
  BodyTarget target;
  std::size_t context_tokens = kDefaultDigestTokens;
};

struct ProposalsOutcome {
  std::vector<Proposal> proposals;
  std::vector<std::string> discarded;  // why others can't be tried
};

// Asks the teacher for changes to `candidate` by what the students got wrong. Bodies in `known` are not proposed again.
Result<ProposalsOutcome> ProposeChanges(Teacher& teacher, const Material& material, const Candidate& candidate,
                                        const std::string& failures, const std::vector<Candidate>& known,
                                        const RefineOptions& options, int attempt);

// The body with edits put in: each `find` stands exactly once. Error (kInput): it doesn't.
Result<std::string> ApplyEdits(std::string body, const Json& edits);

}  // namespace upskill
