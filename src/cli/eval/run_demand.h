// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "model/model.h"
#include "util/result.h"

namespace upskill {

// What a run asks of each of its models, as far as it is known before the first request.
struct RunDemand {
  std::string longest_system_prompt;  // of all arms
  std::size_t answers = 0;
  double prompt_tokens = 0.0;  // of all answers, estimated; those of turns in a workspace come on top
  double output_tokens = 0.0;  // guessed, within the maximum
};

// Tokens of an answer of a model that hasn't been measured.
double GuessedAnswerTokens(int max_tokens);

RunDemand DemandOf(const Plan& plan);

// Error: a model's context has no room for the system prompt with the skill, so that nothing could be compared.
Status CheckSkillFits(const RunDemand& demand, const std::vector<std::unique_ptr<Model>>& models);

// What the run is likely to cost, as a sentence; empty if that is little or unknown. Error: it is much, and the user
// has set no limit.
Result<std::string> CheckCost(const RunDemand& demand, const std::vector<std::unique_ptr<Model>>& models, bool limited);

}  // namespace upskill
