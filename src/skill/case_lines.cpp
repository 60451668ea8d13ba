// SPDX-License-Identifier: Apache-2.0
#include "skill/case_lines.h"

#include <algorithm>

namespace upskill {
namespace {

// Offset of the closing quote of the string opened at `open`.
std::size_t ClosingQuote(std::string_view text, std::size_t open) {
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i, text.size() - 1);
}

}  // namespace

std::vector<std::size_t> CaseLines(std::string_view text, std::string_view key) {
  const int list_depth = key.empty() ? 1 : 2;
  std::vector<std::size_t> lines;
  std::string_view outer_key;
  std::size_t line = 1;
  int depth = 0;
  bool in_list = false;
  bool element_follows = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    if (c == ']' || c == '}') {
      if (depth == list_depth) in_list = false;
      element_follows = false;
      --depth;
      continue;
    }
    if (element_follows) lines.push_back(line);
    element_follows = false;
    if (c == '"') {
      const std::size_t end = ClosingQuote(text, i);
      if (depth == 1) outer_key = text.substr(i + 1, end - i - 1);
      i = end;
    } else if (c == ',') {
      element_follows = in_list && depth == list_depth;
    } else if (c == '[' || c == '{') {
      ++depth;
      if (c == '[' && depth == list_depth && !in_list && (key.empty() || outer_key == key)) {
        lines.clear();  // a later list under the same key replaces the earlier one
        in_list = true;
        element_follows = true;
      }
    }
  }
  return lines;
}

}  // namespace upskill
