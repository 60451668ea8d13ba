// SPDX-License-Identifier: Apache-2.0
#include "llama/token_guess.h"

#include <algorithm>

namespace upskill {

std::span<const llama_token> GuessNext(std::span<const llama_token> text, std::size_t most) {
  constexpr std::size_t kSame = 3;
  if (text.size() <= kSame) return {};
  const auto end = text.last(kSame);
  for (std::size_t at = text.size() - kSame; at-- > 0;) {
    if (!std::ranges::equal(text.subspan(at, kSame), end)) continue;
    const std::span<const llama_token> next = text.subspan(at + kSame);
    return next.first(std::min(most, next.size()));
  }
  return {};
}

}  // namespace upskill
