// SPDX-License-Identifier: Apache-2.0
#include "skill/strict_yaml_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "skill/unicode_text.h"

namespace upskill {
namespace {

constexpr std::size_t kSnippetReach = 37;  // characters shown before and after a mark
constexpr std::size_t kSnippetCut = 5;

bool IsAllowedInYaml(char32_t c) {
  if (c < 0x80) return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7E);
  return c == 0x85 || (c >= 0xA0 && c != 0xFFFE && c != 0xFFFF);
}

}  // namespace

bool IsYamlLineEnd(char32_t c) {
  return c == '\n' || c == '\0' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool IsYamlSpaceOrEnd(char32_t c) { return c == ' ' || c == '\t' || IsYamlLineEnd(c); }

YamlText::YamlText(std::string_view text) : text_(DecodeUtf8(text)) {
  const auto bad = std::find_if_not(text_.begin(), text_.end(), IsAllowedInYaml);
  if (bad == text_.end()) return;
  const auto position = static_cast<std::size_t>(bad - text_.begin());
  const auto character = static_cast<unsigned long>(*bad);
  while (mark_.index < position) Forward();
  problem_ = StrictYamlProblem{
      fmt::format("unacceptable character #x{:04x}: special characters are not allowed\n  in \"<unicode string>\", "
                  "position {}",
                  character, position),
      mark_.line + 1, mark_.column + 1};
}

char32_t YamlText::Peek(std::size_t ahead) const {
  const std::size_t index = mark_.index + ahead;
  return problem_ || index >= text_.size() ? kEnd : text_[index];
}

void YamlText::Forward(std::size_t count) {
  for (; count > 0 && mark_.index < text_.size() && !problem_; --count) {
    const char32_t c = text_[mark_.index++];
    if (c == '\n') {
      ++mark_.line;
      mark_.column = 0;
    } else if (c != 0xFEFF) {
      ++mark_.column;
    }
  }
}

std::u32string YamlText::Take(std::size_t count) {
  const std::size_t begin = mark_.index;
  Forward(count);
  return text_.substr(begin, mark_.index - begin);
}

bool YamlText::LooksAt(std::u32string_view prefix) const {
  return !problem_ && std::u32string_view(text_).substr(mark_.index, prefix.size()) == prefix;
}

char32_t YamlText::TakeLineBreak() {
  const char32_t c = Peek();
  if (c == kEnd || !IsYamlLineEnd(c)) return kEnd;
  Forward();
  return c == 0x2028 || c == 0x2029 ? c : U'\n';
}

std::string YamlText::Shown(const YamlMark& mark) const {
  std::size_t start = mark.index;
  std::string head;
  std::size_t head_size = 0;
  while (start > 0 && !IsYamlLineEnd(text_[start - 1])) {
    --start;
    if (mark.index - start < kSnippetReach) continue;
    head = " ... ";
    head_size = head.size();
    start += kSnippetCut;
    break;
  }
  std::size_t end = mark.index;
  std::string tail;
  while (end < text_.size() && !IsYamlLineEnd(text_[end])) {
    ++end;
    if (end - mark.index < kSnippetReach) continue;
    tail = " ... ";
    end -= kSnippetCut;
    break;
  }
  const std::string snippet = EncodeUtf8(std::u32string_view(text_).substr(start, end - start));
  return fmt::format("  in \"<unicode string>\", line {}, column {}:\n    {}{}{}\n{:{}}^ (line: {})", mark.line + 1,
                     mark.column + 1, head, snippet, tail, "", 4 + mark.index - start + head_size, mark.line + 1);
}

void YamlText::Fail(const std::optional<std::string>& context, const std::optional<YamlMark>& context_mark,
                    const std::string& problem, const YamlMark& problem_mark, const YamlMark& at) {
  if (problem_) return;
  std::string message;
  if (context) message += fmt::format("{}\n", *context);
  if (context_mark && (context_mark->line != problem_mark.line || context_mark->column != problem_mark.column))
    message += fmt::format("{}\n", Shown(*context_mark));
  message += fmt::format("{}\n{}", problem, Shown(problem_mark));
  problem_ = StrictYamlProblem{message, at.line + 1, at.column + 1};
}

void YamlText::Fail(const std::optional<std::string>& context, const std::optional<YamlMark>& context_mark,
                    const std::string& problem, const YamlMark& problem_mark) {
  Fail(context, context_mark, problem, problem_mark, problem_mark);
}

void YamlText::Fail(const std::string& context, const YamlMark& context_mark, const std::string& problem) {
  const YamlMark here = mark_;
  Fail(context, context_mark, problem, here, here);
}

}  // namespace upskill
