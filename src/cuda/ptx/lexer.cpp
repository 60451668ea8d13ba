// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/lexer.h"

#include <algorithm>

#include "util/text.h"

namespace upskill::ptx {
namespace {

bool IsNameStart(char c) { return IsAsciiLetter(c) || c == '_' || c == '$' || c == '%'; }
bool IsWord(char c) { return IsNameStart(c) || IsAsciiDigit(c) || c == '.'; }

// The end of the word that starts at `at`. `::` belongs to it, a single colon ends it. A directive ends before the next
// one: `.reg.b32` is two words.
std::size_t WordEnd(std::string_view text, std::size_t at) {
  const bool directive = text[at] == '.';
  ++at;
  while (at < text.size()) {
    if (directive && text[at] == '.') break;
    if (IsWord(text[at])) {
      ++at;
    } else if (text[at] == ':' && at + 2 < text.size() && text[at + 1] == ':' && IsWord(text[at + 2])) {
      at += 2;
    } else {
      break;
    }
  }
  return at;
}

std::size_t NumberEnd(std::string_view text, std::size_t at) {
  const std::size_t start = at;
  const bool has_prefix = text[at] == '0' && at + 1 < text.size() && IsNameStart(text[at + 1]);
  while (at < text.size() && IsWord(text[at])) {
    ++at;
    const bool exponent = !has_prefix && at > start && (text[at - 1] == 'e' || text[at - 1] == 'E');
    if (exponent && at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  }
  return at;
}

}  // namespace

void Lexer::SkipBlank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      const std::size_t stop = end == std::string_view::npos ? text_.size() : end + 2;
      line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                     text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
      at_ = stop;
    } else {
      break;
    }
  }
}

void Lexer::Advance() {
  SkipBlank();
  token_ = Token{Token::Kind::kEnd, {}, line_};
  if (at_ >= text_.size()) return;
  const char c = text_[at_];
  std::size_t end = at_ + 1;
  if (IsNameStart(c) || (c == '.' && at_ + 1 < text_.size() && IsNameStart(text_[at_ + 1]))) {
    token_.kind = Token::Kind::kWord;
    end = WordEnd(text_, at_);
  } else if (IsAsciiDigit(c)) {
    token_.kind = Token::Kind::kNumber;
    end = NumberEnd(text_, at_);
  } else if (c == '"') {
    token_.kind = Token::Kind::kString;
    end = std::min(text_.find_first_of("\"\n", at_ + 1), text_.size());
    token_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + (end < text_.size() && text_[end] == '"' ? 1 : 0), text_.size());
    return;
  } else {
    token_.kind = Token::Kind::kPunctuation;
  }
  token_.text = text_.substr(at_, end - at_);
  at_ = end;
}

void Lexer::SkipLine() {
  // The current token is already read; only skip if it is on the line that is skipped.
  const std::uint32_t line = token_.line;
  while (token_.kind != Token::Kind::kEnd && token_.line == line) Advance();
}

}  // namespace upskill::ptx
