// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Tells the fenced code blocks of Markdown (CommonMark 0.31, section 4.5) from the text around them, line by line. Of
// containers only list items are known, by their indentation, and there more is taken than CommonMark allows: neither
// the code nor the closing fence has to be indented as the item is. Quotes (`>`) are not looked into.
class FenceScanner {
 public:
  enum class Line { kText, kOpening, kCode, kClosing };

  // The next line, with or without its line end.
  Line Take(std::string_view line);

  // Of the block that was opened last.
  const std::string& info() const { return info_; }  // what follows the opening fence, trimmed
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
  std::size_t item_indent_ = 0;  // column where the text of the list item begins; 0: in no list
  std::size_t fence_limit_ = 3;  // most columns before a closing fence
  bool after_blank_line_ = true;
};

struct FencedBlock {
  std::string_view info;         // what follows the opening fence, trimmed
  std::string_view line_before;  // the last line with text before the fence, outside any block, trimmed; may be empty
  std::string content;  // the lines between, each with its line end and without the indentation of the opening fence
};

// All blocks in order; an unclosed one ends with the text. The views are into the text.
std::vector<FencedBlock> FindFencedBlocks(std::string_view text);

// A fence of backticks that is longer than every run of them in the content.
std::string FenceFor(std::string_view content);

}  // namespace upskill
