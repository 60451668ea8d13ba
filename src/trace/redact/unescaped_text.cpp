// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/unescaped_text.h"

#include <algorithm>

#include "trace/redact/secret_value.h"

namespace upskill {
namespace {

int HexValue(char c) {
  if (IsDigitChar(c)) return c - '0';
  return (c >= 'a' ? c - 'a' : c - 'A') + 10;
}

struct Escape {
  std::size_t length = 0;  // 0: none
  char character = 0;      // 0: it stands for nothing
};

// The escape at `at`, which is a backslash or a percent sign. Quotes and backslashes stay, because they end strings.
Escape EscapeAt(std::string_view text, std::size_t at) {
  std::size_t i = at;
  if (text[at] == '%') {
    ++i;
  } else {
    while (i < text.size() && i - at < 8 && text[i] == '\\') ++i;
    // A command goes on in the next line, in JSON behind `\\\n`.
    const std::string_view rest = text.substr(i, 2);
    if (rest.starts_with('\n') || (rest.starts_with('n') && i - at >= 3)) return {i + 1 - at, 0};
    if (rest == "\r\n") return {i + 2 - at, 0};
    if (text.substr(i, 3) == "u00") {
      i += 3;
    } else if (text.substr(i, 1) == "x") {
      ++i;
    } else {
      return {};
    }
  }
  if (i + 1 >= text.size() || !IsHexChar(text[i]) || !IsHexChar(text[i + 1])) return {};
  const auto character = static_cast<char>(HexValue(text[i]) * 16 + HexValue(text[i + 1]));
  if (character <= 0x20 || character >= 0x7F || character == '"' || character == '\'' || character == '\\') return {};
  return {i + 2 - at, character};
}

}  // namespace

UnescapedText::UnescapedText(std::string_view text) {
  std::size_t from = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] != '\\' && text[i] != '%') {
      ++i;
      continue;
    }
    const Escape escape = EscapeAt(text, i);
    if (escape.length == 0) {
      ++i;
      continue;
    }
    text_.append(text, from, i - from);
    if (starts_.empty()) text_.reserve(text.size());
    starts_.push_back({text_.size(), i});
    if (escape.character != 0) text_ += escape.character;
    i += escape.length;
    from = i;
    starts_.push_back({text_.size(), i});
  }
  if (!starts_.empty()) text_.append(text, from);
}

std::size_t UnescapedText::Origin(std::size_t at) const {
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), at,
                                     [](std::size_t place, const Start& start) { return place < start.at; });
  if (next == starts_.begin()) return at;
  const Start& start = *(next - 1);
  return start.origin + (at - start.at);
}

}  // namespace upskill
