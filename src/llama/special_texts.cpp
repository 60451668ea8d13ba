// SPDX-License-Identifier: Apache-2.0
#include "llama/special_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace upskill {
namespace {

// Symbols that templates neither trim nor change.
constexpr std::string_view kPlaceholderBegin = "\u2402";
constexpr std::string_view kPlaceholderEnd = "\u2403";

// A mark that no content has, so that nobody can write a placeholder.
std::string UnusedMark(const std::vector<std::string>& contents) {
  for (std::size_t number = 0;; ++number) {
    std::string mark = fmt::format("{}{}.", kPlaceholderBegin, number);
    if (std::none_of(contents.begin(), contents.end(),
                     [&](const std::string& content) { return content.find(mark) != std::string::npos; })) {
      return mark;
    }
  }
}

void Append(std::vector<PromptPiece>& pieces, std::string_view text, bool literal) {
  if (text.empty()) return;
  if (!pieces.empty() && pieces.back().literal == literal) {
    pieces.back().text += text;
  } else {
    pieces.push_back({std::string(text), literal});
  }
}

// The number that a placeholder's mark is followed by, and the length of both with the end symbol.
struct PlaceholderTail {
  std::size_t number = 0;
  std::size_t length = 0;
};

std::optional<PlaceholderTail> ReadTail(std::string_view text) {
  PlaceholderTail tail;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), tail.number);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (code != std::errc() || !text.substr(digits).starts_with(kPlaceholderEnd)) return std::nullopt;
  tail.length = digits + kPlaceholderEnd.size();
  return tail;
}

}  // namespace

SpecialTexts::SpecialTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase(texts_, "");
  std::stable_sort(texts_.begin(), texts_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
  for (const std::string& text : texts_) {
    if (first_bytes_.find(text.front()) == std::string::npos) first_bytes_ += text.front();
  }
}

// Of the special text that `text` begins with; 0 without one.
std::size_t SpecialTexts::LengthAt(std::string_view text) const {
  for (const std::string& special : texts_) {
    if (text.starts_with(special)) return special.size();
  }
  return 0;
}

SpecialTexts::Hidden SpecialTexts::Hide(const std::vector<std::string>& contents) const {
  Hidden hidden;
  for (const std::string& content : contents) {
    std::string masked;
    std::size_t copied = 0;
    const std::string_view text = content;
    for (std::size_t at = text.find_first_of(first_bytes_); at != std::string_view::npos;) {
      const std::size_t length = LengthAt(text.substr(at));
      if (length > 0) {
        if (hidden.mark.empty()) hidden.mark = UnusedMark(contents);
        masked += text.substr(copied, at - copied);
        masked += fmt::format("{}{}{}", hidden.mark, hidden.texts.size(), kPlaceholderEnd);
        hidden.texts.emplace_back(text.substr(at, length));
        copied = at + length;
      }
      at = text.find_first_of(first_bytes_, at + std::max<std::size_t>(1, length));
    }
    masked += text.substr(copied);
    hidden.contents.push_back(std::move(masked));
  }
  return hidden;
}

std::vector<PromptPiece> SpecialTexts::Reveal(std::string_view prompt, const Hidden& hidden) {
  std::vector<PromptPiece> pieces;
  while (!hidden.mark.empty()) {
    const std::size_t at = prompt.find(hidden.mark);
    if (at == std::string_view::npos) break;
    const std::string_view after = prompt.substr(at + hidden.mark.size());
    const std::optional<PlaceholderTail> tail = ReadTail(after);
    if (!tail || tail->number >= hidden.texts.size()) {  // the template has cut it
      Append(pieces, prompt.substr(0, at + hidden.mark.size()), false);
      prompt = after;
      continue;
    }
    Append(pieces, prompt.substr(0, at), false);
    Append(pieces, hidden.texts[tail->number], true);
    prompt = after.substr(tail->length);
  }
  Append(pieces, prompt, false);
  return pieces;
}

}  // namespace upskill
