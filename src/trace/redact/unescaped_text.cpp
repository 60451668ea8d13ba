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

// The length of lines that hold a comment only.
std::size_t CommentLines(std::string_view text) {
  std::size_t end = 0;
  while (true) {
    const std::size_t mark = text.find_first_not_of(" \t", end);
    const std::size_t line_end = text.find('\n', end);
    if (mark == std::string_view::npos || text[mark] != '#' || line_end == std::string_view::npos) return end;
    end = line_end + 1;
  }
}

// The length of a line end as a shell of Windows continues commands behind a mark: `\r\n`, in JSON as two escapes.
std::size_t LineEndLength(std::string_view text) {
  for (const std::string_view end : {"\n", "\r\n", "\\n", "\\r\\n"}) {
    if (text.starts_with(end)) return end.size();
  }
  return 0;
}

struct Escape {
  std::size_t length = 0;  // 0: none
  char character = 0;      // 0: it stands for nothing
};

// The escape at `at`, which is a backslash, a percent sign, or the mark of a continued command. Quotes and backslashes
// stay, because they end strings.
Escape EscapeAt(std::string_view text, std::size_t at) {
  std::size_t i = at;
  if (text[at] == '`' || text[at] == '^') {
    const std::size_t end = at > 0 && text[at - 1] == ' ' ? LineEndLength(text.substr(at + 1)) : 0;
    return {end == 0 ? 0 : 1 + end + CommentLines(text.substr(at + 1 + end)), 0};
  }
  if (text[at] == '%') {
    ++i;
  } else {
    while (i < text.size() && i - at < 8 && text[i] == '\\') ++i;
    // A command goes on in the next line, in JSON behind `\\\n`.
    const std::string_view rest = text.substr(i, 2);
    if (rest.starts_with('n') && i - at >= 3) return {i + 1 - at, 0};
    if (const std::size_t end = rest.starts_with('\n') ? 1U : rest == "\r\n" ? 2U : 0U; end > 0)
      return {i + end - at + CommentLines(text.substr(i + end)), 0};
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
    if (std::string_view("\\%`^").find(text[i]) == std::string_view::npos) {
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
