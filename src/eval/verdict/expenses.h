// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// Sets what the answers of both arms took: tokens, seconds, cost, cost per passed answer. `complete` has a round;
// `max_tokens`: what a model may write in one answer.
void AddExpenses(const CompleteRounds& complete, int max_tokens, StudentVerdict& verdict);

}  // namespace upskill
