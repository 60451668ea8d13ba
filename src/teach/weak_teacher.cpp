// SPDX-License-Identifier: Apache-2.0
#include "teach/weak_teacher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

bool IsTooWeak(std::size_t unusable, std::size_t all) {
  constexpr std::size_t kLeast = 3;
  return unusable >= kLeast && 2 * unusable > all;
}

Error TooWeak(const Teacher& teacher, std::string_view reason) {
  return {ErrorKind::kNotFound, fmt::format("{} is too weak for this material: {}", teacher.info().name, reason)};
}

}  // namespace upskill
