// SPDX-License-Identifier: Apache-2.0
#include "fuzz/damage.h"

#include <algorithm>
#include <string_view>

namespace upskill {

std::string Damage(const std::string& input, Rng& rng) {
  std::string text = input;
  for (int i = 0; i < 6 && !text.empty(); ++i) {
    const std::size_t at = rng.Next() % text.size();
    const std::size_t length = std::min<std::size_t>(rng.Next() % 40, text.size() - at);
    constexpr std::string_view kBytes(
        "\"{}[]:,\\\n\0\xFF"
        "019aeu",
        17);
    switch (rng.Next() % 4) {
      case 0:
        text[at] = kBytes[rng.Next() % kBytes.size()];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, 1, kBytes[rng.Next() % kBytes.size()]);
        break;
    }
  }
  return text;
}

}  // namespace upskill
