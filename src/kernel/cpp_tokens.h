// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

struct CppToken {
  enum class Kind : std::uint8_t { kName, kNumber, kString, kPunctuation };

  Kind kind = Kind::kName;
  bool in_define = false;    // in the text of a macro
  std::uint32_t branch = 0;  // CppText::branches
  std::string_view text;  // of a string, without its quotes and with its escapes; of punctuation, one character, or ::
};

struct CppInclude {
  std::string_view name;
  bool quoted = false;       // "…" rather than <…>
  std::uint32_t branch = 0;  // CppText::branches
};

// The code of a C, C++ or CUDA file without comments, disabled code (`#if 0`) and directives other than #include and
// #define. Views point into the text.
struct CppText {
  std::string_view text;
  std::vector<CppToken> tokens;
  std::vector<CppInclude> includes;
  // The branches of #if … #else … #endif that code is in, each with the one around it; the first is no branch.
  struct Branch {
    std::uint32_t around = 0;
    bool dead = false;
    std::string_view condition;  // of #if, #ifdef and #elif
  };
  std::vector<Branch> branches;
  // For each token that opens a bracket ( [ {, the number of the token that closes it, and the other way round; the
  // token's own number if there is none.
  std::vector<std::uint32_t> partner;

  std::size_t OffsetOf(std::string_view part) const { return static_cast<std::size_t>(part.data() - text.data()); }
  bool Is(std::size_t token, std::string_view what) const {
    return token < tokens.size() && tokens[token].text == what && tokens[token].kind != CppToken::Kind::kString;
  }
  bool IsName(std::size_t token) const { return token < tokens.size() && tokens[token].kind == CppToken::Kind::kName; }
};

// Takes time for the size of the text, whatever it is. At most 4 GiB.
CppText TokenizeCpp(std::string_view text);

// The value of strings that follow one another from `token` on ("a" "b"): their text together, with simple escapes
// replaced. Moves `token` behind them.
std::string TakeStrings(const CppText& code, std::size_t& token);

}  // namespace upskill
