// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Checks that need only the answer's text. `contains`, `not_contains` and `any_of` ignore case (Unicode simple
// folding).
Result<std::unique_ptr<Check>> MakeContains(const CheckSpec& spec, LiteralSearch& strings);
Result<std::unique_ptr<Check>> MakeNotContains(const CheckSpec& spec, LiteralSearch& strings);
Result<std::unique_ptr<Check>> MakeAnyOf(const CheckSpec& spec, LiteralSearch& strings);

// Compares the whole answer exactly, except for white space at its ends.
Result<std::unique_ptr<Check>> MakeEquals(const CheckSpec& spec);

// An RE2 pattern that may match anywhere in the answer.
Result<std::unique_ptr<Check>> MakeRegex(const CheckSpec& spec);

}  // namespace upskill
