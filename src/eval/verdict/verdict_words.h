// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "eval/verdict/verdict.h"

namespace upskill {

inline constexpr std::array<Verdict, 4> kAllVerdicts = {Verdict::kHelps, Verdict::kHurts, Verdict::kNoEffect,
                                                        Verdict::kUndecided};

// VerdictName with hyphens for spaces, in gates and style classes: "no-effect".
std::string VerdictSlug(Verdict verdict);

}  // namespace upskill
