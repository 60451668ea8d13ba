// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/gate.h"
#include "util/result.h"

namespace upskill {

// What can be known of a gate before the run, from its number of cases and rounds alone.
//
// Error: a clause can't hold, whatever the answers are. The returned warnings name clauses that can hold only if the
// choices differ: a clause such as not-hurts, where an equally good skill would fail it for want of answers. Plans so
// large that this can't be are not looked at.
Result<std::vector<std::string>> ForecastGate(const Gate& gate, const Plan& plan);

}  // namespace upskill
