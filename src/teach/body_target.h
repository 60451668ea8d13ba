// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "util/tokens.h"

namespace upskill {

// How long a skill's body should be, in tokens of the student.
struct BodyTarget {
  std::size_t tokens = 600;
  bool estimated = true;  // from the length of the text; false: `count` uses a student's tokenizer
  std::function<std::size_t(const std::string& text)> count = EstimateTokens;
};

// A longer body is refused.
inline std::size_t MostTokens(const BodyTarget& target) { return 2 * target.tokens; }

}  // namespace upskill
