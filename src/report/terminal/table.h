// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/terminal/style.h"
#include "util/terminal_text.h"

namespace upskill {

// A text table: a head line, rows, columns aligned by display width, two spaces between. When the table is wider than
// the style's columns, the columns that may be dropped are, those of the highest rank first; then those marked as such
// are cut; then each row is printed as "head: value" lines.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    TerminalText head;
    Align align = Align::kLeft;
    bool may_be_cut = false;
    int drop_rank = 0;  // 0: never dropped; of the others, the highest goes first
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns. They may be text of unknown origin.
  void AddRow(const std::vector<std::string>& cells);
  TerminalText Render(const Style& style) const;
  bool empty() const { return rows_.empty(); }
  // Whether the column has room, for notes that explain it.
  bool Shows(std::size_t column, const Style& style) const;

 private:
  // Which columns there is room for, and how wide they are.
  struct Layout {
    std::vector<std::size_t> shown;
    std::vector<std::size_t> widths;  // of all columns
    bool fits = false;
  };
  Layout LayOut(const Style& style) const;
  bool CutsNamesAlike(std::size_t width) const;
  std::vector<std::size_t> Widths() const;
  TerminalText RenderAsList(const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TerminalText>> rows_;
};

}  // namespace upskill
