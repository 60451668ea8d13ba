// SPDX-License-Identifier: Apache-2.0
#include "report/export/matrix_files.h"

#include <fmt/format.h>

#include "report/export/markdown.h"
#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/verdict_words.h"
#include "util/text.h"

namespace upskill {
namespace {

// "▲ +38 ✓": as in the terminal.
std::string CellMarkdown(const MatrixCell* cell) {
  if (cell == nullptr) return "·";
  if (!cell->lift) return "–";
  return fmt::format("{} {}{}", ShownAs(cell->verdict).sign, PointsWithRange(*cell->lift, cell->low, cell->high),
                     cell->in_table.stands ? " ✓" : "");
}

// A line made for the terminal, whose escapes stay visible.
std::string LineOf(const TerminalText& line) { return std::string(Trim(line.text())); }

}  // namespace

std::string MatrixCsv(const Matrix& matrix) {
  std::string out;
  for (const CellColumn& column : CellColumns()) out += fmt::format("{},", column.key);
  for (const ArmColumn& column : ArmColumns()) {
    if (column.skills != nullptr) out += fmt::format("{0}_without,{0}_with,", column.skills);
  }
  out += "worth_its_tokens\r\n";
  for (const MatrixCell& cell : matrix.cells) {
    for (const CellColumn& column : CellColumns()) {
      const Json value = column.csv_needs_lift && !cell.lift ? Json(nullptr) : column.value(cell);
      out += CsvValue(value, column.digits) + ",";
    }
    for (const ArmColumn& column : ArmColumns()) {
      if (column.skills == nullptr) continue;
      for (const ArmSummary* arm : {&cell.baseline, &cell.with_skill}) out += CsvValue(column.value(*arm), 0) + ",";
    }
    out += fmt::format("{}\r\n", WorthName(WorthItsTokens(cell)));
  }
  return out;
}

std::string MatrixMarkdown(const Matrix& matrix, const std::vector<std::string>& remarks, double margin) {
  constexpr std::size_t kLongestLine = 2000;
  std::string out = "### Skills and models\n\n| skill |";
  std::string rule = "|---|";
  for (const std::string& name : ModelNames(matrix)) {
    out += fmt::format(" {} |", MarkdownText(name));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const std::string& skill : matrix.skills) {
    out += fmt::format("| {} |", MarkdownText(skill));
    for (const std::string& model : matrix.models) out += fmt::format(" {} |", CellMarkdown(matrix.at(skill, model)));
    out += '\n';
  }
  out += fmt::format("\n{}; lift in points, with its interval\n", VerdictLegend());
  if (const std::string note = TableNote(matrix); !note.empty()) out += "\n" + note + "\n";
  for (const std::string& remark : remarks) out += "\n" + MarkdownText(remark, kLongestLine) + "\n";
  for (const std::string& skill : matrix.skills) {
    const SweetSpot spot = FindSweetSpot(matrix, skill, margin);
    if (spot.choices.empty() && spot.not_compared.empty()) continue;
    out += fmt::format("\n#### {}\n\n|", MarkdownText(skill));
    rule = "\n|";
    for (const ChoiceColumn& column : ChoiceColumns()) {
      out += fmt::format("{}{} |", *column.heading == '\0' ? "" : " ", column.heading);
      rule += column.is_number ? "--:|" : "---|";
    }
    out += rule + "\n";
    for (const ChoiceRow& row : ChoiceRows(spot)) {
      out += '|';
      for (const ChoiceColumn& column : ChoiceColumns()) out += fmt::format(" {} |", MarkdownText(row.*column.text));
      out += '\n';
    }
    for (const TerminalText& line : {SweetSpotLine(spot), NotComparedLine(spot)}) {
      if (!line.empty()) out += "\n" + MarkdownText(LineOf(line), kLongestLine) + "\n";
    }
  }
  return out;
}

}  // namespace upskill
