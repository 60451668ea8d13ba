// SPDX-License-Identifier: Apache-2.0
#include "teach/weak_teacher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kRun = 6;  // words

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : ToLowerAscii(text)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    if (is_part) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string RunAt(const std::vector<std::string>& words, std::size_t at) {
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
  return fmt::format("{}", fmt::join(first, first + kRun, " "));
}

}  // namespace

PromptCopies::PromptCopies(const Prompts& texts, std::initializer_list<std::string_view> prompts,
                           const Material& material) {
  for (const std::string_view prompt : prompts) {
    const std::vector<std::string> words = WordsOf(texts.Text(prompt));
    for (std::size_t i = 0; i + kRun <= words.size(); ++i) runs_.insert(RunAt(words, i));
  }
  const auto leave_out = [this](std::string_view text) {
    const std::vector<std::string> words = WordsOf(text);
    for (std::size_t i = 0; i + kRun <= words.size(); ++i) runs_.erase(RunAt(words, i));
  };
  leave_out(material.task);
  leave_out(ExamplesText(material));
  leave_out(material.existing.body);
  for (const MaterialItem& item : material.items) leave_out(item.text);
}

bool PromptCopies::Has(std::string_view text) const {
  const std::vector<std::string> words = WordsOf(text);
  std::size_t copied = 0;
  std::size_t counted = 0;  // words before this place are counted
  for (std::size_t i = 0; i + kRun <= words.size(); ++i) {
    if (!runs_.contains(RunAt(words, i))) continue;
    copied += i + kRun - std::max(i, counted);
    counted = i + kRun;
  }
  return copied > 0 && 2 * copied >= words.size();
}

bool SaysNothing(std::string_view text) {
  static const std::set<std::string_view> stand_ins = {
      "an",      "and",   "another", "bar",         "baz",   "blah",  "content", "description", "etc",
      "example", "first", "foo",     "for",         "goes",  "here",  "in",      "insert",      "ipsum",
      "is",      "it",    "item",    "list",        "lorem", "more",  "name",    "none",        "null",
      "of",      "one",   "or",      "placeholder", "rule",  "rules", "second",  "section",     "sentence",
      "skill",   "some",  "string",  "tbd",         "text",  "that",  "the",     "this",        "title",
      "todo",    "two",   "value",   "words",       "xxx",   "your"};
  static const RE2 word(R"((\pL[\pL\pN_]+))");
  const std::string lower = ToLowerAscii(text);
  re2::StringPiece rest(lower);
  for (std::string found; RE2::FindAndConsume(&rest, word, &found);) {
    if (!stand_ins.contains(found)) return false;
  }
  return true;
}

bool IsTooWeak(std::size_t unusable, std::size_t all) {
  constexpr std::size_t kLeast = 3;
  return unusable >= kLeast && 2 * unusable > all;
}

Error TooWeak(const Teacher& teacher, std::string_view reason) {
  return {ErrorKind::kNotFound, fmt::format("{} is too weak for this material: {}", teacher.info().name, reason)};
}

}  // namespace upskill
