// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestCut = 12;

TerminalText Spaces(std::size_t count) { return TerminalText::Trusted(std::string(count, ' ')); }

TerminalText Padded(const TerminalText& text, std::size_t width, Table::Align align) {
  const std::size_t used = text.columns();
  const TerminalText space = Spaces(width > used ? width - used : 0);
  return align == Table::Align::kLeft ? text + space : space + text;
}

TerminalText WithoutTrailingSpace(const TerminalText& line) {
  const std::string& text = line.text();
  return TerminalText::Trusted(text.substr(0, text.find_last_not_of(' ') + 1));
}

}  // namespace

void Table::AddRow(const std::vector<std::string>& cells) {
  CHECK(cells.size() == columns_.size());
  std::vector<TerminalText>& row = rows_.emplace_back();
  for (const std::string& cell : cells) row.push_back(TerminalText::EscapeLine(cell));
}

std::vector<std::size_t> Table::Widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].head.columns();
    for (const auto& row : rows_) width = std::max(width, row[c].columns());
    widths.push_back(width);
  }
  return widths;
}

TerminalText Table::Render(const Style& style) const {
  std::vector<std::size_t> widths = Widths();
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  };
  for (std::size_t c = 0; c < columns_.size() && total() > style.columns; ++c) {
    if (!columns_[c].may_be_cut) continue;
    const std::size_t excess = total() - style.columns;
    const std::size_t least = std::max(kShortestCut, columns_[c].head.columns());
    widths[c] = std::max(std::min(least, widths[c]), widths[c] > excess ? widths[c] - excess : 0);
  }
  if (total() > style.columns) return RenderAsList(style);
  TerminalText out;
  TerminalText head;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    head += Padded(columns_[c].head, widths[c], columns_[c].align) + Spaces(kGap);
  }
  out += Tinted(style, Tint::kDim, WithoutTrailingSpace(head)) + "\n";
  for (const auto& row : rows_) {
    TerminalText line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      line += Padded(row[c].Cut(widths[c]), widths[c], columns_[c].align) + Spaces(kGap);
    }
    out += WithoutTrailingSpace(line) + "\n";
  }
  return out;
}

TerminalText Table::RenderAsList(const Style& style) const {
  std::size_t width = 0;
  for (const Column& column : columns_) width = std::max(width, column.head.columns());
  TerminalText out;
  for (const auto& row : rows_) {
    if (!out.empty()) out += "\n";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (row[c].empty()) continue;
      const std::size_t room = style.columns > width + kGap ? style.columns - width - kGap : 1;
      out += Tinted(style, Tint::kDim, Padded(columns_[c].head, width, Align::kLeft)) + Spaces(kGap) +
             row[c].Cut(room) + "\n";
    }
  }
  return out;
}

}  // namespace upskill
