// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/terminal/columns.h"
#include "report/terminal/figures.h"
#include "report/terminal/table.h"
#include "report/terminal/verdict_words.h"
#include "util/text.h"

namespace upskill {
namespace {

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// From the samples, or what is left of them.
std::optional<ChoiceAnswers> AnswersIn(const JudgedRun& run, std::size_t index, Arm arm) {
  if (!run.plan().has_arm(arm)) return std::nullopt;
  if (run.choices.empty()) return AnswersOf(run.data, index, arm);
  const std::string& model = run.plan().students[index].spec;
  const auto found = std::find_if(run.choices.begin(), run.choices.end(), [&](const ChoiceAnswers& choice) {
    return choice.model == model && choice.arm == arm;
  });
  if (found == run.choices.end()) return std::nullopt;
  return *found;
}

// Without answers.
MatrixCell LightCellOf(const JudgedRun& run, std::size_t index) {
  MatrixCell cell;
  const Student& student = run.plan().students[index];
  cell.skill = run.plan().skill.name;
  cell.model = student.spec;
  cell.name = student.name;
  cell.run = run.plan().run;
  cell.verdict = run.verdicts[index].word;
  cell.lift = LiftOf(run, index);
  cell.shown_lift = ShownLift(run.summary.students[index], run.verdicts[index], ComparedArm(run.plan()));
  cell.low = run.verdicts[index].low;
  cell.high = run.verdicts[index].high;
  cell.alpha = run.plan().verdict.alpha;
  cell.evidence = TableEvidenceOf(run, index);
  if (const ArmSummary* arm = ArmOf(run.summary.students[index], Arm::kBaseline)) cell.baseline = *arm;
  if (const ArmSummary* arm = ArmOf(run.summary.students[index], Arm::kSkill)) cell.with_skill = *arm;
  return cell;
}

MatrixCell CellOf(const JudgedRun& run, std::size_t index) {
  MatrixCell cell = LightCellOf(run, index);
  cell.baseline_answers = AnswersIn(run, index, Arm::kBaseline);
  cell.skill_answers = AnswersIn(run, index, Arm::kSkill);
  return cell;
}

std::string CellText(const MatrixCell* cell) {
  if (cell == nullptr) return "·";
  if (!cell->lift) return "–";
  return fmt::format("{} {}{}", ShownAs(cell->verdict).sign, PointsText(*cell->shown_lift),
                     cell->in_table.stands ? " ✓" : "");
}

void JudgeAll(Matrix& matrix, std::size_t planned) {
  std::vector<TableEvidence> evidence;
  for (const MatrixCell& cell : matrix.cells) {
    evidence.push_back(cell.lift ? cell.evidence : TableEvidence());
    matrix.alpha = evidence.size() == 1 ? cell.alpha : std::min(matrix.alpha, cell.alpha);
  }
  matrix.verdicts = std::max(planned, matrix.cells.size());
  const std::vector<TableVerdict> judged = JudgeTable(evidence, matrix.verdicts, matrix.alpha);
  for (std::size_t i = 0; i < judged.size(); ++i) matrix.cells[i].in_table = judged[i];
}

std::string TokensText(const Choice& choice) {
  return choice.tokens ? WithThousands(std::llround(*choice.tokens)) : "unknown";
}

std::string CostText(const Choice& choice) {
  if (!choice.cost_usd) return "unknown";
  return *choice.cost_usd == 0.0 ? "free" : MoneyText(*choice.cost_usd);
}

constexpr std::array kChoiceColumns = {ChoiceColumn{"model", &ChoiceRow::model, false, true},
                                       ChoiceColumn{"skill", &ChoiceRow::skill},
                                       ChoiceColumn{"pass rate", &ChoiceRow::rate, true},
                                       ChoiceColumn{"tokens with prompt", &ChoiceRow::tokens, true},
                                       ChoiceColumn{"$ per answer", &ChoiceRow::cost, true},
                                       ChoiceColumn{"worth it", &ChoiceRow::worth},
                                       ChoiceColumn{"", &ChoiceRow::note}};

Json IfLift(const MatrixCell& cell, const Json& value) { return cell.lift ? value : Json(nullptr); }

using InCell = const MatrixCell&;
constexpr std::array kCellColumns = {
    CellColumn{"skill", [](InCell cell) { return Json(cell.skill); }},
    CellColumn{"model", [](InCell cell) { return Json(cell.model); }},
    CellColumn{"name", [](InCell cell) { return Json(cell.name); }},
    CellColumn{"run", [](InCell cell) { return Json(cell.run); }},
    CellColumn{"verdict", [](InCell cell) { return IfLift(cell, VerdictName(cell.verdict)); }},
    CellColumn{"stands", [](InCell cell) { return Json(cell.in_table.stands); }, 0, true},
    CellColumn{"p_table", [](InCell cell) { return IfLift(cell, cell.in_table.p); }, 4},
    CellColumn{"p_value", [](InCell cell) { return IfLift(cell, cell.evidence.p()); }, 4},
    CellColumn{"e_value", [](InCell cell) { return IfLift(cell, cell.evidence.e_helps); }, 4},
    CellColumn{"e_value_hurts", [](InCell cell) { return IfLift(cell, cell.evidence.e_hurts); }, 4},
    CellColumn{"lift", [](InCell cell) { return JsonOrNull(cell.lift); }},
    CellColumn{"lift_low", [](InCell cell) { return JsonOrNull(cell.low); }},
    CellColumn{"lift_high", [](InCell cell) { return JsonOrNull(cell.high); }}};

// Each choice for one skill: its rate, tokens, cost, whether another is better in everything.
TerminalText ChoicesTable(const SweetSpot& spot, const Style& style) {
  std::vector<Table::Column> heads;
  heads.reserve(kChoiceColumns.size());
  for (const ChoiceColumn& column : kChoiceColumns)
    heads.push_back({TerminalText::EscapeLine(column.heading),
                     column.is_number ? Table::Align::kRight : Table::Align::kLeft, column.is_name});
  Table table(std::move(heads));
  for (const ChoiceRow& row : ChoiceRows(spot)) {
    std::vector<std::string> cells;
    cells.reserve(kChoiceColumns.size());
    for (const ChoiceColumn& column : kChoiceColumns) cells.push_back(row.*column.text);
    table.AddRow(cells);
  }
  return table.Render(style);
}

// A line of a note, wrapped.
TerminalText WrappedLine(const TerminalText& line, const Style& style) {
  return line.empty() ? TerminalText() : Wrapped(std::string(Trim(line.text())), style.columns, 2) + "\n";
}

}  // namespace

const MatrixCell* Matrix::at(const std::string& skill, const std::string& model) const {
  const auto found = std::find_if(cells.begin(), cells.end(),
                                  [&](const MatrixCell& cell) { return cell.skill == skill && cell.model == model; });
  return found == cells.end() ? nullptr : &*found;
}

Matrix MakeLightMatrix(const JudgedRun& run) {
  Matrix matrix;
  matrix.skills = {run.plan().skill.name};
  for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
    AddOnce(matrix.models, run.plan().students[i].spec);
    matrix.cells.push_back(LightCellOf(run, i));
    matrix.cells.back().load_answers = [&run, i](Arm arm) { return AnswersOf(run.data, i, arm); };
  }
  return matrix;
}

Matrix MakeMatrix(std::span<const JudgedRun> runs, std::size_t planned) {
  Matrix matrix;
  for (const JudgedRun& run : runs) {
    for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
      MatrixCell cell = CellOf(run, i);
      AddOnce(matrix.skills, cell.skill);
      AddOnce(matrix.models, cell.model);
      std::erase_if(matrix.cells,
                    [&](const MatrixCell& old) { return old.skill == cell.skill && old.model == cell.model; });
      matrix.cells.push_back(std::move(cell));
    }
  }
  JudgeAll(matrix, planned);
  return matrix;
}

std::span<const ChoiceColumn> ChoiceColumns() { return kChoiceColumns; }

std::span<const CellColumn> CellColumns() { return kCellColumns; }

std::vector<std::string> ModelNames(const Matrix& matrix) {
  std::vector<std::string> names;
  for (const std::string& model : matrix.models) {
    const auto cell = std::find_if(matrix.cells.begin(), matrix.cells.end(),
                                   [&](const MatrixCell& entry) { return entry.model == model; });
    names.push_back(cell == matrix.cells.end() ? model : cell->name);
  }
  return names;
}

std::vector<ChoiceRow> ChoiceRows(const SweetSpot& spot) {
  std::vector<ChoiceRow> rows;
  const auto add = [&](const Choice& choice, const std::string& note) {
    rows.push_back({choice.cell->name, choice.with_skill ? "with" : "without", PercentText(choice.rate),
                    TokensText(choice), CostText(choice), choice.with_skill ? WorthText(*choice.cell) : "", note});
  };
  for (std::size_t i = 0; i < spot.choices.size(); ++i) {
    const bool is_best_value = spot.sweet_spot == i && !spot.choices[i].has_doubtful_skill();
    add(spot.choices[i], is_best_value ? "best value" : spot.best == i ? "highest" : "");
  }
  for (const Choice& choice : spot.not_compared) add(choice, "");
  return rows;
}

const char* WorthName(Worth worth) {
  switch (worth) {
    case Worth::kYes:
      return "yes";
    case Worth::kNo:
      return "no";
    case Worth::kCostsMore:
      return "costs more";
    case Worth::kNotShown:
      return "not shown";
    case Worth::kUnknown:
      return "unknown";
  }
  return "";
}

std::string TableNote(const Matrix& matrix) {
  if (matrix.verdicts < 2) return "";
  std::size_t words = 0;
  std::size_t standing = 0;
  for (const MatrixCell& cell : matrix.cells) {
    words += cell.lift && cell.verdict != Verdict::kUndecided ? 1 : 0;
    standing += cell.in_table.stands ? 1 : 0;
  }
  if (words == 0) return "";
  return fmt::format(
      "✓ {} of {} {} for the whole table ({} cells): the chance that any ▲ with ✓ is wrong is at most {:.3g} %; the "
      "same goes for ▼ and for =. A verdict without ✓ is less certain: among so many, some may be due to chance",
      standing, Counted(words, "verdict"), words == 1 ? "holds" : "hold",
      WithThousands(static_cast<long long>(matrix.verdicts)), matrix.alpha * 100.0);
}

TerminalText MatrixText(const Matrix& matrix, const Style& style, double margin) {
  std::vector<Table::Column> columns = {{"skill", Table::Align::kLeft, true}};
  for (const std::string& name : ModelNames(matrix))
    columns.push_back({TerminalText::EscapeLine(name).Cut(24), Table::Align::kLeft});
  Table table(std::move(columns));
  for (const std::string& skill : matrix.skills) {
    std::vector<std::string> row = {skill};
    for (const std::string& model : matrix.models) row.push_back(CellText(matrix.at(skill, model)));
    table.AddRow(row);
  }
  TerminalText out;
  if (const std::string result = TableResult(matrix); !result.empty())
    out += Tinted(style, Tint::kBold, Wrapped(result, style.columns, 0)) + "\n";
  for (const std::string& skill : matrix.skills) {
    if (const std::string worth = WorthSentence(matrix, skill); !worth.empty())
      out += Wrapped(worth, style.columns, 2) + "\n";
  }
  if (!out.empty()) out += "\n";
  out += table.Render(style) + Wrapped(VerdictLegend() + "; lift in points", style.columns, 0) + "\n";
  for (const std::string& skill : matrix.skills) {
    const SweetSpot spot = FindSweetSpot(matrix, skill, margin);
    if (spot.choices.empty() && spot.not_compared.empty()) continue;
    out += "\n" + Tinted(style, Tint::kBold, TerminalText::EscapeLine(skill)) + "\n" + ChoicesTable(spot, style) +
           WrappedLine(SweetSpotLine(spot), style) + WrappedLine(NotComparedLine(spot), style);
  }
  if (const std::string note = TableNote(matrix); !note.empty())
    out += "\n" + Wrapped("details  " + note, style.columns, 9) + "\n";
  return out;
}

Json MatrixToJson(const Matrix& matrix, double margin) {
  Json cells = Json::array();
  for (const MatrixCell& cell : matrix.cells) {
    Json& json = cells.emplace_back(Json::object());
    for (const CellColumn& column : kCellColumns) json[column.key] = column.value(cell);
    json["baseline"] = ArmToJson(&cell.baseline, &ArmColumn::skills);
    json["with_skill"] = ArmToJson(&cell.with_skill, &ArmColumn::skills);
    json["worth_its_tokens"] = WorthName(WorthItsTokens(cell));
  }
  Json spots = Json::array();
  for (const std::string& skill : matrix.skills)
    spots.push_back(SweetSpotToJson(FindSweetSpot(matrix, skill, margin), skill));
  return {{"skills", matrix.skills},
          {"models", matrix.models},
          {"table", {{"procedure", "holm"}, {"alpha", matrix.alpha}, {"verdicts", matrix.verdicts}}},
          {"cells", std::move(cells)},
          {"sweet_spots", std::move(spots)}};
}

}  // namespace upskill
