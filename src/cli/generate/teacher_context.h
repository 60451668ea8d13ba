// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/env/env.h"
#include "cli/generate/generate_command.h"
#include "model/model.h"
#include "util/json.h"

namespace upskill {

// How much material one request to the teacher may have.
struct MaterialBudget {
  std::size_t tokens = 0;
  std::string told;  // a line for the user; empty: nothing to tell
};

// Tokens of material that leave room in a context of `context_tokens` for the longest request of a generation and its
// answer of up to `answer_tokens`. From 500 to 200,000: longer requests cost much, and have to be asked for.
std::size_t BudgetOfContext(std::int64_t context_tokens, std::int64_t answer_tokens);

// What a server's list of models (GET BASE/models) says about the context of `model`; 0: nothing. Understands
// OpenRouter, Hugging Face, llama-server, vLLM and LM Studio. Of several figures the lowest counts.
std::int64_t ContextInListing(const Json& listing, std::string_view model);

// Without --budget: what the teacher's context allows, if the catalogue or the model's file has it or its server tells,
// which is asked only if `material_tokens` may not fit and requests may be sent (no --dry-run). Otherwise the budget of
// `options`.
MaterialBudget BudgetFor(const GenerateCommandOptions& options, const Model& teacher, std::size_t material_tokens,
                         const Env& env);

}  // namespace upskill
