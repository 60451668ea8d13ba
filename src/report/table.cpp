// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestCut = 12;

std::string Padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::size_t used = DisplayColumns(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Table::Align::kLeft ? text + space : space + text;
}

std::string WithoutTrailingSpace(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::Widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = DisplayColumns(columns_[c].head);
    for (const auto& row : rows_) width = std::max(width, DisplayColumns(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::Render(const Style& style) const {
  std::vector<std::size_t> widths = Widths();
  const auto total = [&] {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + kGap * (widths.size() - 1);
  };
  for (std::size_t c = 0; c < columns_.size() && total() > style.columns; ++c) {
    if (!columns_[c].may_be_cut) continue;
    const std::size_t excess = total() - style.columns;
    const std::size_t least = std::max(kShortestCut, DisplayColumns(columns_[c].head));
    widths[c] = std::max(std::min(least, widths[c]), widths[c] > excess ? widths[c] - excess : 0);
  }
  if (total() > style.columns) return RenderAsList(style);
  std::string out;
  std::string head;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    head += Padded(columns_[c].head, widths[c], columns_[c].align) + std::string(kGap, ' ');
  }
  out += Tinted(style, Tint::kDim, WithoutTrailingSpace(head)) + "\n";
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      line += Padded(CutToColumns(row[c], widths[c]), widths[c], columns_[c].align) + std::string(kGap, ' ');
    }
    out += WithoutTrailingSpace(line) + "\n";
  }
  return out;
}

std::string Table::RenderAsList(const Style& style) const {
  std::size_t width = 0;
  for (const Column& column : columns_) width = std::max(width, DisplayColumns(column.head));
  std::string out;
  for (const auto& row : rows_) {
    if (!out.empty()) out += "\n";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (row[c].empty()) continue;
      const std::size_t room = style.columns > width + kGap ? style.columns - width - kGap : 1;
      out += Tinted(style, Tint::kDim, Padded(columns_[c].head, width, Align::kLeft)) + std::string(kGap, ' ') +
             CutToColumns(row[c], room) + "\n";
    }
  }
  return out;
}

}  // namespace upskill
