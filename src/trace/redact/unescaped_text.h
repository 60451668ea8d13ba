// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A text in which the escapes of printable ASCII characters are replaced: `\u0073`, `\x73`, `%73`; a backslash at a
// line's end is left out with the line end, because the command goes on.
class UnescapedText {
 public:
  explicit UnescapedText(std::string_view text);

  const std::string& text() const { return text_; }
  bool changed() const { return !starts_.empty(); }
  // The place in the source of the character at `at`; the source's size for that of text().
  std::size_t Origin(std::size_t at) const;

 private:
  struct Start {
    std::size_t at = 0;      // in text_
    std::size_t origin = 0;  // of the character at `at` and those that follow
  };
  std::string text_;
  std::vector<Start> starts_;  // where the distance to the source changes, by rising places
};

}  // namespace upskill
