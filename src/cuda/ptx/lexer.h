// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace upskill::ptx {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kWord, kNumber, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::uint32_t line = 0;

  bool Is(std::string_view word) const { return text == word && kind != Kind::kString; }
};

// Splits PTX into words (directives, opcodes with their suffixes, names), numbers, strings and single characters.
// Comments are skipped. The text must outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Advance(); }

  const Token& Peek() const { return token_; }
  Token Next() {
    const Token token = token_;
    Advance();
    return token;
  }
  // Skips to the end of the current line: what follows on it isn't tokenized.
  void SkipLine();

 private:
  void Advance();
  void SkipBlank();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
};

}  // namespace upskill::ptx
