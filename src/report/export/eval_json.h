// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/verdict/judged_run.h"
#include "util/json.h"

namespace upskill {

// The stable form of `eval --json` (docs/output.md): rates and lifts as fractions, unknown values as null.
Json EvalToJson(const JudgedRun& run);

}  // namespace upskill
