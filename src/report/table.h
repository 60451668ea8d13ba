// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "report/style.h"
#include "util/terminal_text.h"

namespace upskill {

// A text table: a head line, rows, columns aligned by display width, two spaces between. When the table is wider than
// the style's columns, the columns marked as such are cut first, then each row is printed as "head: value" lines.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    TerminalText head;
    Align align = Align::kLeft;
    bool may_be_cut = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns. They may be text of unknown origin.
  void AddRow(const std::vector<std::string>& cells);
  TerminalText Render(const Style& style) const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::size_t> Widths() const;
  TerminalText RenderAsList(const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TerminalText>> rows_;
};

}  // namespace upskill
