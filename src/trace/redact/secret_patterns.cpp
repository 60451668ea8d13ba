// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/secret_patterns.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "trace/redact/assignment.h"
#include "trace/redact/pattern_table.h"
#include "trace/redact/secret_value.h"

namespace upskill {
namespace {

// Values of a Kubernetes Secret, which are base64 of anything.
constexpr std::array kSecretManifest = {std::string_view("kind: secret"), std::string_view("kind: 'secret'"),
                                        std::string_view("kind: \"secret\"")};

bool Passes(std::string_view value, ValueTest test, bool strong) {
  if (value.empty() || value.find("[redacted:") != std::string_view::npos) return false;
  switch (test) {
    case ValueTest::kAlways:
      return true;
    case ValueTest::kPassword:
      return LooksLikePassword(value, strong, false);
    case ValueTest::kLiteral:
      return LooksLikePassword(value, true, true);
    case ValueTest::kRandom:
      return !IsPlaceholder(value, false) && value.front() != '/' && LooksRandom(value, 12);
    case ValueTest::kRandomLong:
      return !IsPlaceholder(value, false) && !IsDigest(value) && LooksRandom(value, 20) && Entropy(value) >= 3.5;
    case ValueTest::kHeader:
      return !IsPlaceholder(value, true) && Entropy(value) >= 2.75 && (HasDigit(value) || HasRandomCase(value));
  }
  return false;
}

std::string_view Piece(re2::StringPiece piece) { return {piece.data(), piece.size()}; }

void MatchPattern(std::string_view text, std::size_t from, std::size_t to, const Pattern& pattern,
                  const RE2& expression, std::vector<SecretSpan>& spans) {
  re2::StringPiece input(text.data() + from, to - from);
  re2::StringPiece group;
  while (RE2::FindAndConsume(&input, expression, &group)) {
    std::string_view value = Piece(group);
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    if (pattern.test == ValueTest::kPassword || pattern.test == ValueTest::kRandom) {
      while (!value.empty() && std::string_view(".,:)]}>").find(value.back()) != std::string_view::npos)
        value.remove_suffix(1);
    }
    const bool strong = begin > 0 && std::string_view("=\"':").find(text[begin - 1]) != std::string_view::npos;
    if (!Passes(value, pattern.test, strong)) continue;
    const std::size_t end = begin + value.size();
    spans.push_back({begin, pattern.test == ValueTest::kLiteral ? end : EndOfWrapped(text, end), pattern.kind});
  }
}

struct Range {
  std::size_t from = 0;
  std::size_t to = 0;
};

// Adds the part of the text around a cue in which its pattern may match, from the beginning of a word, to parts that do
// not touch each other.
void AddAround(std::string_view text, std::size_t at, PatternReach reach, std::vector<Range>& ranges) {
  constexpr std::size_t kBefore = 340;
  constexpr std::size_t kAfter = 1000;
  constexpr std::size_t kFarBefore = 4096;
  constexpr std::size_t kFarAfter = 16'384;
  const std::size_t before = reach == PatternReach::kFar ? kFarBefore : kBefore;
  const std::size_t to = std::min(text.size(), at + (reach == PatternReach::kFar ? kFarAfter : kAfter));
  std::size_t from = at - std::min(at, before);
  if (!ranges.empty() && from <= ranges.back().to) {
    ranges.back().to = std::max(ranges.back().to, to);
    return;
  }
  const auto is_blank = [&](std::size_t i) {
    return std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos;
  };
  while (from > 0 && at - from < 2 * before && !is_blank(from - 1)) --from;
  ranges.push_back({from, to});
}

// A bot's token: three parts in base64, the first of which is a number.
void FindDiscordTokens(std::string_view text, std::vector<SecretSpan>& spans) {
  constexpr std::size_t kMiddle = 6;
  const auto is_part = [&](std::size_t at) { return IsAlnumChar(text[at]) || text[at] == '_' || text[at] == '-'; };
  for (std::size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', dot + 1)) {
    const std::size_t second = dot + kMiddle + 1;
    if (second >= text.size() || text[second] != '.') continue;
    std::size_t begin = dot;
    while (begin > 0 && dot - begin < 30 && is_part(begin - 1)) --begin;
    const std::size_t first = dot - begin;
    if (first < 24 || first > 28 || std::string_view("MNO").find(text[begin]) == std::string_view::npos) continue;
    std::size_t end = second + 1;
    while (end < text.size() && is_part(end)) ++end;
    const std::size_t last = end - second - 1;
    if (last >= 27 && last <= 40) spans.push_back({begin, end, "discord-token"});
  }
}

// The values of `data:` and `stringData:` in the manifest of a Kubernetes Secret.
void FindManifestValues(std::string_view text, const Range& range, std::vector<SecretSpan>& spans) {
  static const RE2 data(R"((?m)^([ \t]*)(?:data|stringData):[ \t]*$)");
  static const RE2 entry(
      R"((?:[ \t]*#[^\n]*\n)*([ \t]+)[\w.-]+:[ \t]*(?:[|>][+-]?\s+)?["']?([^\s"'#{}]{6,})["']?[ \t]*(?:\n|$))");
  re2::StringPiece input(text.data() + range.from, range.to - range.from);
  re2::StringPiece indent;
  while (RE2::FindAndConsume(&input, data, &indent)) {
    re2::StringPiece lines = input;
    if (!lines.empty() && lines[0] == '\n') lines.remove_prefix(1);
    re2::StringPiece own;
    re2::StringPiece value;
    while (RE2::Consume(&lines, entry, &own, &value) && own.size() > indent.size()) {
      if (IsPlaceholder(Piece(value), true)) continue;
      const auto begin = static_cast<std::size_t>(value.data() - text.data());
      spans.push_back({begin, begin + value.size(), "kubernetes-secret"});
    }
  }
}

// Which patterns a word is a cue of.
const std::vector<std::vector<std::size_t>>& PatternsOfWords() {
  static const std::vector<std::vector<std::size_t>> all = [] {
    std::vector<std::vector<std::size_t>> of_words;
    for (std::size_t i = 0; i < Patterns().size(); ++i) {
      for (std::size_t k = 0; k < Patterns()[i].cues.size(); ++k) of_words.push_back({i});
    }
    return of_words;
  }();
  return all;
}

}  // namespace

std::vector<std::string_view> PatternWords() {
  std::vector<std::string_view> words;
  for (const Pattern& pattern : Patterns()) words.insert(words.end(), pattern.cues.begin(), pattern.cues.end());
  words.insert(words.end(), kSecretManifest.begin(), kSecretManifest.end());
  return words;
}

std::vector<SecretSpan> FindPatterns(std::string_view text, const std::vector<PatternHit>& hits) {
  static const std::vector<std::unique_ptr<RE2>> expressions = [] {
    std::vector<std::unique_ptr<RE2>> compiled;
    for (const Pattern& pattern : Patterns()) compiled.push_back(std::make_unique<RE2>(pattern.expression));
    return compiled;
  }();
  std::vector<std::vector<Range>> ranges(Patterns().size());
  std::vector<Range> manifests;
  std::vector<SecretSpan> spans;
  for (const PatternHit& hit : hits) {
    if (hit.word >= PatternsOfWords().size()) {
      AddAround(text, hit.begin, PatternReach::kFar, manifests);
      continue;
    }
    for (const std::size_t i : PatternsOfWords()[hit.word]) AddAround(text, hit.begin, Patterns()[i].reach, ranges[i]);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (const Range& range : ranges[i])
      MatchPattern(text, range.from, range.to, Patterns()[i], *expressions[i], spans);
  }
  for (const Range& range : manifests) FindManifestValues(text, range, spans);
  FindDiscordTokens(text, spans);
  return spans;
}

}  // namespace upskill
