// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace upskill {

// The formats of tokens that can be told by their shape alone, as issuers publish them for secret scanning.

enum class Charset : std::uint8_t {
  kAlnum,
  kWord,    // and '_', '-'
  kDotted,  // and '.', too
  kPadded,  // word characters, '.' and '='
  kHex,
  kUpper,      // upper case and digits
  kUpperDash,  // and '-'
  kLower,      // lower case and digits
  kBase64,     // letters, digits, '+', '/'
  kDigits,
  kTilde,    // word characters, '.', '~'
  kToken,    // word characters, '.', '=', '+', '/'
  kPercent,  // word characters, '%'
};
inline constexpr unsigned kCharsets = 13;
bool InCharset(char c, Charset charset);

struct TokenFormat {
  std::string_view anchor;  // in the token, in this case
  std::string_view kind;
  Charset charset;           // of the characters around the anchor
  std::uint16_t least;       // characters after the anchor
  std::uint16_t most;        // equal to `least`: exactly that many
  std::uint16_t before = 0;  // characters before the anchor
  bool strict = false;       // the anchor says little: only whole words of this length
  // A regular expression for the whole token; empty: none. Initialized for -Wmissing-field-initializers.
  std::string_view shape = {};  // NOLINT(readability-redundant-member-init)
};

inline constexpr std::uint16_t kAnyLength = 2000;

// Several formats of one anchor are in the order in which they are tried.
const std::vector<TokenFormat>& TokenFormats();

}  // namespace upskill
