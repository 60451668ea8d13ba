// SPDX-License-Identifier: Apache-2.0
#include "util/fences.h"

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxIndent = 3;  // four columns make an indented code block
constexpr std::size_t kTabColumns = 4;
constexpr std::size_t kMinFence = 3;

// Removes up to `max_columns` of leading spaces and tabs, but never a part of a tab, and returns the number of columns
// removed. `column` is the column where the text starts.
std::size_t TakeIndent(std::string_view& text, std::size_t max_columns, std::size_t column = 0) {
  std::size_t taken = 0;
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    const std::size_t width = text.front() == ' ' ? 1 : kTabColumns - (column + taken) % kTabColumns;
    if (taken + width > max_columns) break;
    taken += width;
    text.remove_prefix(1);
  }
  return taken;
}

std::size_t RunLength(std::string_view text, char mark) { return std::min(text.find_first_not_of(mark), text.size()); }

// Length of a list item's marker at the start of the text (`-`, `12.`), or 0. A marker is followed by white space.
std::size_t ListMarkerLength(std::string_view text) {
  constexpr std::size_t kMaxDigits = 9;
  if (text.empty()) return 0;
  std::size_t length = 0;
  if (text.front() == '-' || text.front() == '+' || text.front() == '*') {
    length = 1;
  } else {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || digits > kMaxDigits || digits == text.size()) return 0;
    if (text[digits] != '.' && text[digits] != ')') return 0;
    length = digits + 1;
  }
  return length == text.size() || text[length] == ' ' || text[length] == '\t' ? length : 0;
}

}  // namespace

bool FenceScanner::Opens(std::string_view rest, std::size_t indent) {
  if (rest.empty() || (rest.front() != '`' && rest.front() != '~') || indent > item_indent_ + kMaxIndent) return false;
  const std::size_t length = RunLength(rest, rest.front());
  const std::string_view info = Trim(rest.substr(length));
  if (length < kMinFence) return false;
  // ```this``` is inline code.
  if (rest.front() == '`' && info.find('`') != std::string_view::npos) return false;
  mark_ = rest.front();
  length_ = length;
  indent_ = indent;
  info_ = std::string(info);
  fence_limit_ = item_indent_ + kMaxIndent;
  item_indent_ = std::min(item_indent_, indent);
  return true;
}

bool FenceScanner::Closes(std::string_view rest, std::size_t indent) const {
  if (indent > fence_limit_ || rest.empty() || rest.front() != mark_) return false;
  const std::size_t length = RunLength(rest, mark_);
  return length >= length_ && Trim(rest.substr(length)).empty();
}

// Removes the markers of list items from the start of a line of text, and drops the items that the line doesn't belong
// to.
void FenceScanner::FollowList(std::string_view& rest, std::size_t& indent) {
  // Without a blank line in between, the line may continue an item's paragraph, whatever its indentation.
  if (after_blank_line_) item_indent_ = std::min(item_indent_, indent);
  while (indent <= item_indent_ + kMaxIndent) {
    const std::size_t marker = ListMarkerLength(rest);
    if (marker == 0) return;
    rest.remove_prefix(marker);
    std::string_view behind = rest;
    const std::size_t gap = TakeIndent(behind, std::string_view::npos, indent + marker);
    // An item that starts with indented code, or is empty: one column belongs to the marker.
    const bool one = gap > kTabColumns || behind.empty();
    item_indent_ = indent + marker + (one ? 1 : gap);
    indent += marker + gap;
    rest = behind;
  }
}

FenceScanner::Line FenceScanner::Take(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(" \t\n\v\f\r") + 1);  // npos + 1 is 0: only blanks
  std::size_t indent = TakeIndent(line, std::string_view::npos);
  if (open_) {
    if (!Closes(line, indent)) return Line::kCode;
    open_ = false;
    after_blank_line_ = true;  // a paragraph doesn't continue after a block
    return Line::kClosing;
  }
  if (line.empty()) {
    after_blank_line_ = true;
    return Line::kText;
  }
  FollowList(line, indent);
  after_blank_line_ = false;
  open_ = Opens(line, indent);
  return open_ ? Line::kOpening : Line::kText;
}

namespace {

// 1 for a line of three backticks and a language, which opens a block, -1 for one of three backticks alone.
int StepOf(std::string_view line) {
  line = Trim(line);
  if (!line.starts_with("```")) return 0;
  line.remove_prefix(kMinFence);
  if (line.empty()) return -1;
  return IsAsciiLetter(line.front()) && line.find('`') == std::string_view::npos ? 1 : 0;
}

// What an opening line within an open block means: a block within the block (Markdown in a README), if both are closed
// further down; else the open block was never closed.
class InnerFences {
 public:
  explicit InnerFences(std::string_view text) {
    for (const std::string_view line : SplitLines(text))
      depths_.push_back((depths_.empty() ? 0 : depths_.back()) + StepOf(line));
    lowest_ = depths_;
    for (std::size_t i = lowest_.size(); i-- > 1;) lowest_[i - 1] = std::min(lowest_[i - 1], lowest_[i]);
  }
  bool BothAreClosed(std::size_t line) const { return lowest_[line] <= depths_[line] - 2; }

 private:
  std::vector<int> depths_;
  std::vector<int> lowest_;  // from the line on
};

}  // namespace

std::vector<FencedBlock> FindFencedBlocks(std::string_view text) {
  std::vector<FencedBlock> blocks;
  const InnerFences fences(text);
  FenceScanner scanner;
  std::string_view line_before;
  bool may_nest = false;
  int inner = 0;  // open blocks within the block
  for (std::size_t number = 0; !text.empty(); ++number) {
    std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    const int step = StepOf(line);
    if (may_nest && (step == 1 || inner > 0)) {
      if (inner == 0 && !fences.BothAreClosed(number)) {
        scanner.Take("```");
      } else {
        inner += step;
        TakeIndent(line, scanner.indent());
        blocks.back().content += line;
        continue;
      }
    }
    const FenceScanner::Line kind = scanner.Take(line);
    may_nest = kind == FenceScanner::Line::kOpening ? step == 1 : may_nest && kind == FenceScanner::Line::kCode;
    switch (kind) {
      case FenceScanner::Line::kText:
        if (!Trim(line).empty()) line_before = Trim(line);
        break;
      case FenceScanner::Line::kOpening: {
        // The info string is the end of the trimmed line.
        const std::string_view trimmed = Trim(line);
        blocks.push_back({trimmed.substr(trimmed.size() - scanner.info().size()), line_before, ""});
        line_before = {};
        break;
      }
      case FenceScanner::Line::kCode:
        TakeIndent(line, scanner.indent());
        blocks.back().content += line;
        break;
      case FenceScanner::Line::kClosing:
        break;
    }
  }
  return blocks;
}

std::string FenceFor(std::string_view content) {
  std::size_t longest = kMinFence - 1;
  std::size_t run = 0;
  for (const char c : content) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

}  // namespace upskill
