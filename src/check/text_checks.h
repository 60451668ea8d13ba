// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Checks that need nothing but the answer's text. `contains`, `not_contains` and `any_of` ignore case (Unicode simple
// folding); bytes of the answer that are not UTF-8 count as U+FFFD.
Result<std::unique_ptr<Check>> MakeContains(const CheckSpec& spec);
Result<std::unique_ptr<Check>> MakeNotContains(const CheckSpec& spec);
Result<std::unique_ptr<Check>> MakeAnyOf(const CheckSpec& spec);

// The whole answer but for white space at its ends, exactly.
Result<std::unique_ptr<Check>> MakeEquals(const CheckSpec& spec);

// RE2, found anywhere in the answer.
Result<std::unique_ptr<Check>> MakeRegex(const CheckSpec& spec);

}  // namespace upskill
