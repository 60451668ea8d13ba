// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/redact/redact.h"

namespace upskill {

// Secrets that regular expressions tell by what surrounds them: URLs, headers, commands, private keys. Each runs only
// near the words that it can't match without.

// The words to look for.
std::vector<std::string_view> PatternWords();

// The secrets near the hits, which are the places of words of PatternWords() in `text`, by rising ends.
struct PatternHit {
  std::size_t word = 0;
  std::size_t begin = 0;
};
std::vector<SecretSpan> FindPatterns(std::string_view text, const std::vector<PatternHit>& hits);

}  // namespace upskill
