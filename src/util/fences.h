// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Separates the fenced code blocks of Markdown (CommonMark 0.31, section 4.5) from the text around them, line by line.
// Of the container blocks it handles only list items, by their indentation, and more leniently than CommonMark: neither
// the code nor the closing fence has to be indented like the item. Block quotes (`>`) are not handled.
class FenceScanner {
 public:
  enum class Line { kText, kOpening, kCode, kClosing };

  // The next line, with or without its line ending.
  Line Take(std::string_view line);

  // Of the block opened last.
  const std::string& info() const { return info_; }  // text after the opening fence, trimmed
  std::size_t indent() const { return indent_; }     // columns before the opening fence

 private:
  bool Opens(std::string_view rest, std::size_t indent);
  bool Closes(std::string_view rest, std::size_t indent) const;
  void FollowList(std::string_view& rest, std::size_t& indent);

  bool open_ = false;
  char mark_ = '`';
  std::size_t length_ = 0;
  std::size_t indent_ = 0;
  std::string info_;
  std::size_t item_indent_ = 0;  // column where the text of the list item starts; 0: not in a list
  std::size_t fence_limit_ = 3;  // maximum indentation of a closing fence, in columns
  bool after_blank_line_ = true;
};

struct FencedBlock {
  std::string_view info;  // text after the opening fence, trimmed
  std::string_view
      line_before;      // the last non-blank line before the fence and outside any block, trimmed; may be empty
  std::string content;  // the lines in between, with line endings, without the indentation of the opening fence
};

// All blocks in order; an unclosed block ends with the text. Unlike CommonMark, a line "```python" within a block
// "```markdown" opens a block within it, if both are closed, or else ends it. The views point into `text`.
std::vector<FencedBlock> FindFencedBlocks(std::string_view text);

// A fence of backticks longer than any run of backticks in the content.
std::string FenceFor(std::string_view content);

}  // namespace upskill
