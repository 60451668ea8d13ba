// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "skill/strict_yaml.h"

namespace upskill {

// A place in a YAML text; line and column start at 0, columns count code points.
struct YamlMark {
  std::size_t index = 0;
  std::size_t line = 0;
  std::size_t column = 0;
};

// The code points of a YAML text, read from the first to the last, and the first problem found in it. After a problem
// only the end is left, so that whoever reads on stops.
class YamlText {
 public:
  static constexpr char32_t kEnd = 0;  // what is read at the end and after a problem

  explicit YamlText(std::string_view text);

  char32_t Peek(std::size_t ahead = 0) const;
  void Forward(std::size_t count = 1);
  std::u32string Take(std::size_t count);  // the next ones, which are passed over
  bool LooksAt(std::u32string_view prefix) const;

  const YamlMark& mark() const { return mark_; }
  std::size_t line() const { return mark_.line; }
  std::size_t column() const { return mark_.column; }

  // A line break at the current place is passed over; NEL (U+0085) is returned as '\n', kEnd means that there is none.
  char32_t TakeLineBreak();

  // The message's parts, each of which may be absent: what was being read, from where, what is wrong, where. Only the
  // first problem is kept. It is located at `at`.
  void Fail(const std::optional<std::string>& context, const std::optional<YamlMark>& context_mark,
            const std::string& problem, const YamlMark& problem_mark, const YamlMark& at);
  void Fail(const std::optional<std::string>& context, const std::optional<YamlMark>& context_mark,
            const std::string& problem, const YamlMark& problem_mark);
  void Fail(const std::string& context, const YamlMark& context_mark, const std::string& problem);
  bool failed() const { return problem_.has_value(); }
  const std::optional<StrictYamlProblem>& problem() const { return problem_; }

 private:
  // The mark and its line with a caret below, as in the messages of ruamel.yaml.
  std::string Shown(const YamlMark& mark) const;

  std::u32string text_;
  YamlMark mark_;
  std::optional<StrictYamlProblem> problem_;
};

// Whether a character ends a line, or the text.
bool IsYamlLineEnd(char32_t c);
// The same, or a blank or tab.
bool IsYamlSpaceOrEnd(char32_t c);

}  // namespace upskill
