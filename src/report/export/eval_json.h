// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/verdict/gate.h"
#include "eval/verdict/judged_run.h"
#include "util/json.h"

namespace upskill {

// The stable form of `eval --json` (docs/output.md): rates and lifts as fractions, unknown values as null.
Json EvalToJson(const JudgedRun& run);

// The key `gate` of `eval --json` (docs/output.md): whether it holds, null for an incomplete run, and what each clause
// found.
Json GateToJson(const Gate& gate, const JudgedRun& run);
Json GateToJson(const JudgedRun& run);  // of the gate that the run was made with; null without one

}  // namespace upskill
