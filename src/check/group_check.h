// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/check_types.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// `all`, `any` and `at_least`: other checks as one. It is skipped if the outcome depends on members that are skipped.
// `at_least` passes if the weights of the members that pass add up to `count`. Errors: those of the members; `count`
// missing, not positive, or above the sum of all weights.
Result<std::unique_ptr<Check>> MakeGroup(CheckKind kind, const CheckSpec& spec, CaseParts& parts);

// A check that can't run here.
std::unique_ptr<Check> MakeSkipped(const CheckSpec& spec);

}  // namespace upskill
