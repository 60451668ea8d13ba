// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The numbers in a text that stand on their own, not within words such as SXM5 or sm_90: decimal, with a sign ('-' or
// U+2212), commas between groups of three digits, a fraction, an exponent. With a unit, only those that it follows,
// after at most one space; its case counts. Not those that no double can hold.
std::vector<double> NumbersIn(std::string_view text, std::string_view unit);

// `number`: the last number of the text (with the `unit`, if one is given) is the `value`, within `tolerance`
// (absolute) or `relative_tolerance` (of the value's size), whichever allows more; by default 1e-9 of it. Or it is from
// `minimum` to `maximum`. Errors: none of value, minimum and maximum; both kinds; a negative tolerance; minimum above
// maximum; a wrong type.
Result<std::unique_ptr<Check>> MakeNumber(const CheckSpec& spec, CaseParts& parts);

}  // namespace upskill
