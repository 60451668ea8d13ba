// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "teach/material.h"

namespace upskill {

// The id of the error → fix item whose fix removed what the rule recommends; empty: none. A rule contradicts a fix if
// one of its code texts (in backticks or fences) is in what the fix removed, but neither in what replaced it nor in any
// other item that states facts. A rule that warns against it ("never", "instead of", …) is fine.
std::string ContradictedBy(const std::string& rule, const Material& material);

}  // namespace upskill
