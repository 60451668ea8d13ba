// SPDX-License-Identifier: Apache-2.0
#include "report/matrix_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/csv.h"
#include "report/figures.h"
#include "report/markdown.h"
#include "util/text.h"

namespace upskill {
namespace {

std::string NumberField(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

// "▲ +38 ✓": as in the terminal.
std::string CellMarkdown(const MatrixCell* cell) {
  if (cell == nullptr) return "·";
  if (!cell->lift) return "–";
  const std::string interval =
      cell->low && cell->high ? fmt::format(" ({} … {})", PointsText(*cell->low), PointsText(*cell->high)) : "";
  return fmt::format("{} {}{}{}", SignOf(cell->verdict), PointsText(*cell->lift), interval,
                     cell->in_table.stands ? " ✓" : "");
}

std::string NameOf(const Matrix& matrix, const std::string& model) {
  const auto cell = std::find_if(matrix.cells.begin(), matrix.cells.end(),
                                 [&](const MatrixCell& entry) { return entry.model == model; });
  return cell == matrix.cells.end() ? model : cell->name;
}

// A line made for the terminal, whose escapes stay visible.
std::string LineOf(const TerminalText& line) { return std::string(Trim(line.text())); }

}  // namespace

std::string MatrixCsv(const Matrix& matrix) {
  std::string out =
      "skill,model,name,run,verdict,stands,p_table,p_value,e_value,e_value_hurts,lift,lift_low,lift_high,rate_without,"
      "rate_with,tokens_without,"
      "tokens_with,cost_usd_without,cost_usd_with,worth_its_tokens\r\n";
  for (const MatrixCell& cell : matrix.cells) {
    std::vector<std::string> fields = {CsvField(cell.skill),
                                       CsvField(cell.model),
                                       CsvField(cell.name),
                                       CsvField(cell.run),
                                       cell.lift ? VerdictName(cell.verdict) : "",
                                       cell.lift ? (cell.in_table.stands ? "true" : "false") : "",
                                       cell.lift ? fmt::format("{:.4g}", cell.in_table.p) : "",
                                       cell.lift ? fmt::format("{:.4g}", cell.evidence.p()) : "",
                                       cell.lift ? fmt::format("{:.4g}", cell.evidence.e_helps) : "",
                                       cell.lift ? fmt::format("{:.4g}", cell.evidence.e_hurts) : ""};
    for (const std::optional<double>& value :
         {cell.lift, cell.low, cell.high, cell.baseline_rate, cell.skill_rate, cell.baseline_tokens, cell.skill_tokens,
          cell.baseline_cost_usd, cell.skill_cost_usd})
      fields.push_back(NumberField(value));
    fields.emplace_back(WorthName(WorthItsTokens(cell)));
    out += fmt::format("{}\r\n", fmt::join(fields, ","));
  }
  return out;
}

std::string MatrixMarkdown(const Matrix& matrix, const std::vector<std::string>& remarks, double margin) {
  constexpr std::size_t kLongestLine = 2000;
  std::string out = "### Skills and models\n\n| skill |";
  std::string rule = "|---|";
  for (const std::string& model : matrix.models) {
    out += fmt::format(" {} |", MarkdownText(NameOf(matrix, model)));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const std::string& skill : matrix.skills) {
    out += fmt::format("| {} |", MarkdownText(skill));
    for (const std::string& model : matrix.models) out += fmt::format(" {} |", CellMarkdown(matrix.at(skill, model)));
    out += "\n";
  }
  out += "\n▲ helps, ▼ hurts, = no effect, ? undecided, – no lift, · not run; lift in points, with its interval\n";
  if (const std::string note = TableNote(matrix); !note.empty()) out += "\n" + note + "\n";
  for (const std::string& remark : remarks) out += "\n" + MarkdownText(remark, kLongestLine) + "\n";
  for (const std::string& skill : matrix.skills) {
    const SweetSpot spot = FindSweetSpot(matrix, skill, margin);
    if (spot.choices.empty() && spot.not_compared.empty()) continue;
    out += fmt::format(
        "\n#### {}\n\n| model | skill | pass rate | tokens with prompt | $ per answer | worth it | |\n"
        "|---|---|--:|--:|--:|---|---|\n",
        MarkdownText(skill));
    for (const ChoiceRow& row : ChoiceRows(spot)) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", MarkdownText(row.model),
                         row.with_skill ? "with" : "without", row.rate, row.tokens, MarkdownText(row.cost), row.worth,
                         row.note);
    }
    for (const TerminalText& line : {SweetSpotLine(spot), NotComparedLine(spot)}) {
      if (!line.empty()) out += "\n" + MarkdownText(LineOf(line), kLongestLine) + "\n";
    }
  }
  return out;
}

}  // namespace upskill
