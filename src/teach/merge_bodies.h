// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// The changes of two texts to the one that both were made from, line by line. Where both changed the same lines in
// different ways, those of `a` come first, followed by the lines of `b` that `a` doesn't have. Empty: one of the texts
// has more than 2,000 lines.
std::string MergeBodies(const std::string& base, const std::string& a, const std::string& b);

}  // namespace upskill
