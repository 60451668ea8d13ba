// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "teach/material.h"

namespace upskill {

// The id of the error → fix item whose fix took away what the rule states as right, empty: none. Looked for are the
// rule's code texts (in backticks or fences): one that stands in what a fix removed, in nothing that came in its place
// and in no other item that says how things are. A rule that warns of it ("never", "instead of", …) doesn't contradict
// the fix.
std::string ContradictedBy(const std::string& rule, const Material& material);

}  // namespace upskill
