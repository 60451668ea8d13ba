// SPDX-License-Identifier: Apache-2.0
#include "teach/extract_text.h"

#include <algorithm>

#include "util/fences.h"
#include "util/text.h"

namespace upskill {
namespace {

// What the agent says about itself and its next steps teaches nothing.
bool IsTalk(const std::string& sentence) {
  const std::string lower = ToLowerAscii(sentence);
  return StartsWithAny(lower, {"i ",
                               "i'",
                               "i’",
                               "let me",
                               "let's",
                               "now ",
                               "next",
                               "first,",
                               "done",
                               "great",
                               "perfect",
                               "good",
                               "ok",
                               "you're right",
                               "sorry",
                               "we ",
                               "the project needs",
                               "the port ",
                               "all tests",
                               "everything "}) ||
         ContainsAny(lower, {" i ", " i'", " me ", " my ", " let's "}) || lower.ends_with(':') || lower.ends_with('?');
}

std::string WithoutMarkup(std::string_view line) {
  line = Trim(line);
  while (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("> ")) line = Trim(line.substr(2));
  std::size_t digits = 0;
  while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
  if (digits > 0 && digits < 3 && line.substr(digits).starts_with(". ")) line = Trim(line.substr(digits + 2));
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i).starts_with("**")) {
      ++i;
    } else {
      text += line[i];
    }
  }
  return text;
}

// Whether a line is a sentence or an item of a list, rather than code, a tree or a piece of a command.
bool IsProse(const std::string& sentence) {
  constexpr std::size_t kFewestWords = 3;
  const char first = sentence.front();
  const bool capital = first >= 'A' && first <= 'Z';
  const bool digit = first >= '0' && first <= '9';
  if (first != '`' && first != '"' && !capital && !digit) return false;
  std::size_t words = 0;
  bool code = false;
  bool in_word = false;
  for (const char c : sentence + " ") {
    if (c == '`') code = !code;
    const bool letter = IsAsciiLetter(c);
    if (!code && in_word && c == ' ') ++words;
    in_word = letter || (in_word && (c == '\'' || c == '-' || c == ',' || c == '.' || c == ':'));
    if (!code && (c == '=' || c == '{' || c == ';' || c == '|')) return false;
  }
  return words >= kFewestWords;
}

// Whether a bare word can't be guessed: a path, a file name, an identifier, a time, a version.
bool IsTellingWord(std::string_view word) {
  constexpr std::size_t kShortest = 4;
  bool joined = false;  // punctuation between letters or digits, or a capital inside
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const bool sign = word[i] == '/' || word[i] == '_' || word[i] == '.' || word[i] == ':';
    const bool next = (word[i + 1] >= 'a' && word[i + 1] <= 'z') || (word[i + 1] >= 'A' && word[i + 1] <= 'Z') ||
                      (word[i + 1] >= '0' && word[i + 1] <= '9');
    joined = joined || (sign && next) || (word[i] >= 'a' && word[i] <= 'z' && word[i + 1] >= 'A' && word[i + 1] <= 'Z');
  }
  return joined && word.size() >= kShortest;
}

}  // namespace

bool StartsWithAny(const std::string& lower, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return lower.starts_with(start); });
}

std::vector<std::string> SentencesOf(const std::string& line) {
  std::vector<std::string> sentences;
  std::string sentence;
  bool code = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    sentence += line[i];
    if (line[i] == '`') code = !code;
    const bool end =
        !code && (line[i] == '.' || line[i] == '?' || line[i] == '!') && i + 1 < line.size() && line[i + 1] == ' ';
    if (!end) continue;
    sentences.emplace_back(Trim(sentence));
    sentence.clear();
  }
  if (!Trim(sentence).empty()) sentences.emplace_back(Trim(sentence));
  return sentences;
}

std::set<std::string> WordsOf(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : ToLowerAscii(text) + " ") {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += c;
    } else {
      if (word.size() > 3) words.insert(word);
      word.clear();
    }
  }
  return words;
}

std::size_t CommonWords(const std::set<std::string>& words, const std::string& text) {
  std::size_t common = 0;
  for (const std::string& word : WordsOf(text)) common += words.count(word);
  return common;
}

bool HoldsIgnoringCase(const std::string& text, const std::string& part) {
  return ToLowerAscii(text).find(ToLowerAscii(part)) != std::string::npos;
}

std::vector<std::string> TellingTextsOf(const std::string& statement) {
  std::vector<std::string> texts = CodeSpansOf(statement);
  if (!texts.empty()) return texts;
  constexpr std::string_view kAround = ".,;:!?()[]\"'";
  std::size_t at = 0;
  while (at < statement.size()) {
    const std::size_t begin = statement.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(statement.find_first_of(" \t\n", begin), statement.size());
    std::string_view word = std::string_view(statement).substr(begin, end - begin);
    while (!word.empty() && kAround.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
    while (!word.empty() && kAround.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
    if (IsTellingWord(word)) texts.emplace_back(word);
    at = end;
  }
  return texts;
}

std::vector<std::string> StatementsByNearness(const UserRequest& request) {
  std::vector<std::string> statements = StatementsOf(request.answer);
  const std::set<std::string> words = WordsOf(request.text);
  std::stable_sort(statements.begin(), statements.end(), [&](const std::string& a, const std::string& b) {
    return CommonWords(words, a) > CommonWords(words, b);
  });
  return statements;
}

std::vector<std::string> CodeSpansOf(const std::string& text) {
  std::vector<std::string> spans;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = text.find('`', at);
    const std::size_t close = open == std::string::npos ? open : text.find('`', open + 1);
    if (close == std::string::npos) return spans;
    if (close > open + 1) spans.push_back(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
}

std::vector<std::string> StatementsOf(const std::string& text) {
  constexpr std::size_t kShortest = 12;
  constexpr std::size_t kLongest = 240;
  std::vector<std::string> statements;
  std::vector<std::string> plain;  // without code; used if there are no others
  FenceScanner scanner;
  for (const std::string_view line : SplitLines(text)) {
    if (scanner.Take(line) != FenceScanner::Line::kText || Trim(line).starts_with('#') || Trim(line).starts_with('|'))
      continue;
    for (std::string& sentence : SentencesOf(WithoutMarkup(line))) {
      if (sentence.size() < kShortest || sentence.size() > kLongest || TellingTextsOf(sentence).empty() ||
          IsTalk(sentence) || !IsProse(sentence))
        continue;
      if (CodeSpansOf(sentence).empty()) {
        plain.push_back(std::move(sentence));
      } else {
        statements.push_back(std::move(sentence));
      }
    }
  }
  return statements.empty() ? plain : statements;
}

bool TellsFailure(const std::string& line) {
  return ContainsAny(ToLowerAscii(line),
                     {"error", "not found", "no such", "fail", "cannot", "can't", "denied", "missing", "undefined",
                      "refused", "invalid", "unexpected", "exception", "unknown"});
}

std::string ErrorLine(const std::string& text) {
  std::string failure;
  std::string last;
  for (const std::string_view line : SplitLines(text)) {
    const std::string shown(Trim(line));
    if (shown.empty() || shown == "…" || shown == "Error: (none)") continue;
    last = shown;
    if (HoldsIgnoringCase(shown, "error")) {
      failure = shown;
      break;
    }
    if (failure.empty() && TellsFailure(shown)) failure = shown;
  }
  return CutToColumns(failure.empty() ? last : failure, 200);
}

std::string InBackticks(const std::string& text) {
  return text.find('`') == std::string::npos ? "`" + text + "`" : "`` " + text + " ``";
}

std::string FirstPlace(const MaterialItem& item) { return item.places.empty() ? "" : item.places.front(); }

}  // namespace upskill
