// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/table.h"

#include <algorithm>
#include <map>
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

// Whether two names, which are in the first column, would be shown as the same.
bool Table::CutsNamesAlike(std::size_t width) const {
  std::map<std::string, std::string> names;
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) {
    return names.emplace(row[0].Cut(width).text(), row[0].text()).first->second != row[0].text();
  });
}

Table::Layout Table::LayOut(const Style& style) const {
  Layout layout;
  layout.widths = Widths();
  layout.shown.resize(columns_.size());
  std::iota(layout.shown.begin(), layout.shown.end(), std::size_t{0});
  const auto least = [&](std::size_t c) {
    const std::size_t cut = std::max(kShortestCut, columns_[c].head.columns());
    return columns_[c].may_be_cut ? std::min(cut, layout.widths[c]) : layout.widths[c];
  };
  const auto total = [&] {
    std::size_t sum = kGap * (layout.shown.size() - 1);
    for (const std::size_t c : layout.shown) sum += layout.widths[c];
    return sum;
  };
  while (total() > style.columns) {
    const auto last = std::max_element(layout.shown.begin(), layout.shown.end(), [&](std::size_t a, std::size_t b) {
      return columns_[a].drop_rank < columns_[b].drop_rank;
    });
    if (columns_[*last].drop_rank == 0) break;
    layout.shown.erase(last);
  }
  for (const std::size_t c : layout.shown) {
    if (total() <= style.columns) break;
    const std::size_t excess = total() - style.columns;
    layout.widths[c] = std::max(least(c), layout.widths[c] > excess ? layout.widths[c] - excess : 0);
  }
  layout.fits = total() <= style.columns && !CutsNamesAlike(layout.widths[0]);
  return layout;
}

bool Table::Shows(std::size_t column, const Style& style) const {
  const Layout layout = LayOut(style);
  return !layout.fits || std::find(layout.shown.begin(), layout.shown.end(), column) != layout.shown.end();
}

TerminalText Table::Render(const Style& style) const {
  const Layout layout = LayOut(style);
  if (!layout.fits) return RenderAsList(style);
  TerminalText out;
  TerminalText head;
  for (const std::size_t c : layout.shown)
    head += Padded(columns_[c].head, layout.widths[c], columns_[c].align) + Spaces(kGap);
  out += Tinted(style, Tint::kDim, WithoutTrailingSpace(head)) + "\n";
  for (const auto& row : rows_) {
    TerminalText line;
    for (const std::size_t c : layout.shown)
      line += Padded(row[c].Cut(layout.widths[c]), layout.widths[c], columns_[c].align) + Spaces(kGap);
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
