// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other (optimal string alignment).
std::size_t EditDistance(std::string_view a, std::string_view b);

// The name that `word` was probably meant to be, ignoring case and leading dashes: at most two edits away, or a third
// of the word's length if that is more; one edit for words of up to three letters. The first of several equally near.
std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names);

// The key of a file that `word` was probably meant to be. Stricter than NearestName, because other programs may have
// keys of their own: one edit for words of up to five letters, two for longer ones, and not a key itself.
std::optional<std::string> NearestKey(std::string_view word, std::span<const std::string_view> keys);

// "; did you mean 'eval'?", or nothing when no name is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& names);

}  // namespace upskill
