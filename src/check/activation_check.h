// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// `activates`: whether a student reads the skill, or with `"expected": false` leaves it alone. Answers don't show it:
// the check itself is skipped, and CellChecks puts ActivationResult in its place where the student could choose. Error:
// `expected` is neither true nor false.
Result<std::unique_ptr<Check>> MakeActivates(const CheckSpec& spec, CaseParts& parts);

bool IsActivationCheck(const CheckSpec& spec);
bool ExpectsActivation(const CheckSpec& spec);
CheckResult ActivationResult(const CheckSpec& spec, bool skill_was_read);

}  // namespace upskill
