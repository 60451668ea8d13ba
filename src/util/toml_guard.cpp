// SPDX-License-Identifier: Apache-2.0
#include "util/toml_guard.h"

namespace upskill {

std::optional<std::size_t> FindDeepTomlKey(std::string_view text) {
  constexpr std::size_t kMostDots = 99;
  constexpr std::string_view kNotInKeys = "\n,=[]{}#/()";
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (++dots > kMostDots) return i;
    } else if (kNotInKeys.find(text[i]) != std::string_view::npos) {
      dots = 0;
    }
  }
  return std::nullopt;
}

}  // namespace upskill
