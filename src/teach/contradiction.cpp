// SPDX-License-Identifier: Apache-2.0
#include "teach/contradiction.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>
#include <vector>

#include "teach/evidence.h"
#include "trace/digest/excerpt.h"
#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

bool IsWordCharacter(char c) { return IsAsciiAlphanumeric(c) || c == '_'; }

// Whether a word or number continues at `at`, possibly after a full stop.
bool GoesOn(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '.') ++at;
  return at < text.size() && IsWordCharacter(text[at]);
}

// Whether `text` contains `part` as whole words and numbers.
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
  static constexpr std::array<std::string_view, 14> kWords = {" not ",   "n't",     "never", "avoid",       "instead",
                                                              "wrong",   "fail",    "error", "rather than", "no longer",
                                                              "replace", "mistake", " old ", " fix"};
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

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// What a fix removed and what it put in place.
struct FixTexts {
  std::string removed;
  std::string added;
};

FixTexts FixTextsOf(const FixDetail& fix) {
  FixTexts texts{fix.failed + "\n", fix.works + "\n"};
  for (const FixStep& step : fix.steps) {
    if (step.kind != FixStep::Kind::kEdit) continue;
    const EditedLines lines = LinesOf(step.edit);
    texts.removed += Joined(lines.removed);
    texts.added += Joined(lines.added);
  }
  return texts;
}

// The text of an item that states what is right: of a fix, what it added; empty for items that may describe mistakes.
std::string Upheld(const MaterialItem& item) {
  switch (item.kind) {
    case MaterialKind::kEpisode:
    case MaterialKind::kCorrection:
    case MaterialKind::kDeadEnd:
      return "";
    case MaterialKind::kFix:
      if (const auto* fix = std::get_if<FixDetail>(&item.detail)) return FixTextsOf(*fix).added;
      return "";
    case MaterialKind::kFile:
      if (const auto* file = std::get_if<FileDetail>(&item.detail)) {
        std::string text = item.text + "\n" + file->content;
        for (const FileEdit& edit : file->edits) text += "\n" + Joined(LinesOf(edit).added);
        return text;
      }
      return item.text;
    case MaterialKind::kCommand:
    case MaterialKind::kFact:
    case MaterialKind::kFinding:
    case MaterialKind::kDocument:
    case MaterialKind::kTool:
      break;
  }
  return item.text;
}

}  // namespace

std::string ContradictedBy(const std::string& rule, const Material& material) {
  if (Warns(rule)) return "";
  for (const std::string& text : CodeTextsOf(rule)) {
    const auto upholds = [&](const MaterialItem& item) { return HoldsWord(Upheld(item), text); };
    const auto removed = std::find_if(material.items.begin(), material.items.end(), [&](const MaterialItem& item) {
      const auto* fix = std::get_if<FixDetail>(&item.detail);
      return fix != nullptr && HoldsWord(FixTextsOf(*fix).removed, text);
    });
    if (removed != material.items.end() && std::none_of(material.items.begin(), material.items.end(), upholds))
      return removed->id;
  }
  return "";
}

}  // namespace upskill
