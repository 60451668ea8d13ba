// SPDX-License-Identifier: Apache-2.0
#include "teach/contradiction.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "teach/extract.h"
#include "trace/digest/digest.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether a word or number goes on at `at`; a full stop does when a character of it follows.
bool GoesOn(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '.') ++at;
  return at < text.size() && IsWordCharacter(text[at]);
}

// Whether `part` stands in `text` and neither begins nor ends inside a word or number.
bool HoldsWord(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool inside =
        at > 0 && IsWordCharacter(part.front()) && (IsWordCharacter(text[at - 1]) || text[at - 1] == '.');
    const bool ends = !IsWordCharacter(part.back()) || !GoesOn(text, end);
    if (!inside && ends) return true;
  }
  return false;
}

bool Warns(const std::string& rule) {
  static constexpr std::array<std::string_view, 15> kWords = {" not ",   "n't",     "never", "avoid",       "instead",
                                                              "wrong",   "fail",    "error", "rather than", "no longer",
                                                              "replace", "mistake", " old ", "mend",        " fix"};
  const std::string lower = " " + ToLowerAscii(rule);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::vector<std::string> CodeTextsOf(const std::string& rule) {
  std::vector<std::string> texts;
  FenceScanner scanner;
  for (const std::string_view line : SplitLines(rule)) {
    const FenceScanner::Line kind = scanner.Take(line);
    if (kind == FenceScanner::Line::kCode) {
      texts.emplace_back(Trim(line));
    } else if (kind == FenceScanner::Line::kText) {
      for (const std::string& span : CodeSpansOf(std::string(line))) texts.emplace_back(Trim(span));
    }
  }
  constexpr std::size_t kShortest = 3;
  std::erase_if(texts, [](const std::string& text) { return text.size() < kShortest; });
  return texts;
}

// Lines of a diff that begin with `sign`, without it.
std::string LinesWith(const std::string& change, char sign) {
  std::string lines;
  for (const std::string_view line : SplitLines(change)) {
    if (line.starts_with(sign)) lines += std::string(line.substr(1)) + "\n";
  }
  return lines;
}

bool Is(const MaterialItem& item, DigestKind kind) { return item.kind == DigestKindTitle(kind); }

// What the item says that holds: of a fix what came in, nothing of what may speak of the wrong way.
std::string Upheld(const MaterialItem& item) {
  if (Is(item, DigestKind::kFix)) return LinesWith(item.change, '+') + item.works;
  if (Is(item, DigestKind::kFile)) return item.text + "\n" + item.works;
  return Is(item, DigestKind::kEpisode) || Is(item, DigestKind::kCorrection) || Is(item, DigestKind::kDeadEnd)
             ? ""
             : item.text;
}

}  // namespace

std::string ContradictedBy(const std::string& rule, const Material& material) {
  if (Warns(rule)) return "";
  for (const std::string& text : CodeTextsOf(rule)) {
    const auto stands = [&](const MaterialItem& item) { return HoldsWord(Upheld(item), text); };
    const auto removed = std::find_if(material.items.begin(), material.items.end(), [&](const MaterialItem& item) {
      return Is(item, DigestKind::kFix) &&
             (HoldsWord(LinesWith(item.change, '-'), text) || HoldsWord(item.failed, text));
    });
    if (removed != material.items.end() && std::none_of(material.items.begin(), material.items.end(), stands))
      return removed->id;
  }
  return "";
}

}  // namespace upskill
