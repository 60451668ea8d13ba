// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace upskill {

// A fenced code block of Markdown (CommonMark 0.31, section 4.5). Views into the text.
struct FencedBlock {
  std::string_view info;         // what stands behind the opening fence, trimmed
  std::string_view line_before;  // the last line with text before the fence, outside any block; may be empty
  std::string_view content;      // with its last line end
};

// All blocks in order: ``` and ~~~ of three or more, closed by at least as many of the same; an unclosed one ends with
// the text. More lenient than CommonMark in one thing: fences may be indented at will, as they are in lists.
std::vector<FencedBlock> FindFencedBlocks(std::string_view text);

}  // namespace upskill
