// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "eval/judged_run.h"
#include "eval/plan.h"
#include "util/result.h"

namespace upskill {

// A condition on a run that decides an exit code, for CI: clauses separated by `;`, all of which must hold.
//   helps:haiku,glm   the verdict is `helps` for these models (also hurts, no-effect, undecided)
//   not-hurts:*       the verdict is anything but `hurts` for every model
//   tokens<+20%       change in an answer's output tokens (also cost, including the prompt; seconds), as estimated
//   lift>10           in points
//   pass>80%          pass rate with the skill
//   lift:haiku>10     a comparison for only some models
struct GateClause {
  enum class Kind { kVerdict, kNotVerdict, kTokens, kCost, kSeconds, kLift, kPass };
  std::string text;
  Kind kind = Kind::kVerdict;
  Verdict verdict = Verdict::kHelps;
  bool less = false;                // `<`; otherwise `>`
  double bound = 0.0;               // a fraction
  std::vector<std::string> models;  // empty: all
};

struct Gate {
  std::vector<GateClause> clauses;
};

struct GateResult {
  std::string clause;
  std::string model;
  bool passed = false;
  std::string detail;  // what was found: "undecided", "+31 %", "unknown"
};

Result<Gate> ParseGate(const std::string& text);

// Error: a clause names a model that isn't in the plan.
Status CheckGateModels(const Gate& gate, const Plan& plan);

// The result of each clause for each student it names. An unknown quantity (a cost without prices) doesn't pass.
std::vector<GateResult> CheckGate(const Gate& gate, const JudgedRun& run);

}  // namespace upskill
