// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// Sets what the answers of both arms took: tokens, seconds, cost, cost per passed answer. `complete` has a round.
void AddExpenses(const CompleteRounds& complete, StudentVerdict& verdict);

}  // namespace upskill
