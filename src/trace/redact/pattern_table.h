// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace upskill {

// The expressions of secrets that are told by what stands around them.

// What a match of a pattern must pass to be a secret.
enum class ValueTest {
  kAlways,
  kPassword,
  kLiteral,  // a quoted password
  kRandom,
  kRandomLong,  // also long and not a digest
  kHeader,      // the value of a header that only holds a secret
};

enum class PatternReach { kNear, kFar };

struct Pattern {
  const char* kind;
  std::vector<std::string_view> cues;  // one of them occurs wherever the expression matches
  PatternReach reach;                  // kFar: the match may be long
  ValueTest test;
  const char* expression;  // group 1 is the secret
};

const std::vector<Pattern>& Patterns();

}  // namespace upskill
