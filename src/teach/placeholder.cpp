// SPDX-License-Identifier: Apache-2.0
#include "teach/placeholder.h"

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShortestPlaceholder = 3;
constexpr std::size_t kLongestText = 200;
constexpr std::size_t kFewestOwnCharacters = 4;
constexpr int kMostPlaceholders = 3;  // in one text: each may be tried at every length

bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }

bool IsLetterOrNumber(char c) { return IsCapital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsNameCharacter(char c) { return IsLetterOrNumber(c) || c == '_' || c == '-'; }

// The length of the placeholder that starts at `at`; 0: none does.
std::size_t PlaceholderAt(std::string_view line, std::size_t at) {
  if (at > 0 && IsLetterOrNumber(line[at - 1])) return 0;
  std::size_t end = at;
  while (end < line.size() && IsLetterOrNumber(line[end])) ++end;
  return IsPlaceholder(line.substr(at, end - at)) ? end - at : 0;
}

// Whether `line` from `at` on begins with `text`, with at least one placeholder replaced.
bool Becomes(std::string_view line, std::size_t at, std::string_view text, std::size_t own, int replaced) {
  std::size_t i = 0;
  for (; i < text.size() && at < line.size(); ++i, ++at) {
    if (const std::size_t length = PlaceholderAt(line, at); length > 0 && replaced < kMostPlaceholders) {
      std::size_t name = i;
      while (name < text.size() && IsNameCharacter(text[name])) ++name;
      for (; name > i; --name) {
        if (Becomes(line, at + length, text.substr(name), own, replaced + 1)) return true;
      }
    }
    if (text[i] != line[at]) return false;
    own += text[i] == ' ' ? 0 : 1;
  }
  return i == text.size() && replaced > 0 && own >= kFewestOwnCharacters;
}

}  // namespace

bool IsPlaceholder(std::string_view word) {
  return word.size() >= kShortestPlaceholder && std::all_of(word.begin(), word.end(), IsCapital);
}

std::optional<std::size_t> LineWithPlaceholderFor(std::string_view text, std::string_view body) {
  text = Trim(text);
  if (text.size() > kLongestText) return std::nullopt;
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(body)) {
    ++number;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (Becomes(line, at, text, 0, 0)) return number;
    }
  }
  return std::nullopt;
}

}  // namespace upskill
