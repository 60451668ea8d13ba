// SPDX-License-Identifier: Apache-2.0
#include "report/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/figures.h"
#include "report/table.h"
#include "util/text.h"

namespace upskill {
namespace {

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

MatrixCell CellOf(const JudgedRun& run, std::size_t index) {
  MatrixCell cell;
  const Student& student = run.plan().students[index];
  cell.skill = run.plan().skill.name;
  cell.model = student.spec;
  cell.name = student.name;
  cell.run = run.plan().run;
  cell.verdict = run.verdicts[index].word;
  cell.lift = LiftOf(run, index);
  if (const ArmSummary* arm = ArmOf(run.summary.students[index], Arm::kBaseline)) {
    cell.baseline_rate = arm->rate();
    cell.baseline_tokens = arm->mean_tokens();
    cell.baseline_cost_usd = arm->mean_cost_usd();
  }
  if (const ArmSummary* arm = ArmOf(run.summary.students[index], Arm::kSkill)) {
    cell.skill_rate = arm->rate();
    cell.skill_tokens = arm->mean_tokens();
    cell.skill_cost_usd = arm->mean_cost_usd();
  }
  return cell;
}

void AddChoice(std::vector<Choice>& choices, const MatrixCell& cell, bool with_skill) {
  const std::optional<double>& rate = with_skill ? cell.skill_rate : cell.baseline_rate;
  const std::optional<double>& tokens = with_skill ? cell.skill_tokens : cell.baseline_tokens;
  if (!rate || !tokens) return;
  choices.push_back({&cell, with_skill, *rate, *tokens, with_skill ? cell.skill_cost_usd : cell.baseline_cost_usd});
}

// Whether `a` is at least as good as `b` in everything that is known of both, and better in something.
bool Dominates(const Choice& a, const Choice& b) {
  const bool comparable = a.cost_usd.has_value() == b.cost_usd.has_value();
  if (!comparable || a.rate < b.rate || a.tokens > b.tokens) return false;
  if (a.cost_usd && *a.cost_usd > *b.cost_usd) return false;
  return a.rate > b.rate || a.tokens < b.tokens || (a.cost_usd && *a.cost_usd < *b.cost_usd);
}

const char* SignOf(Verdict word) {
  switch (word) {
    case Verdict::kHelps:
      return "▲";
    case Verdict::kHurts:
      return "▼";
    case Verdict::kNoEffect:
      return "=";
    case Verdict::kUndecided:
      return "?";
  }
  return "";
}

std::string CellText(const MatrixCell* cell) {
  if (cell == nullptr) return "·";
  return cell->lift ? fmt::format("{} {}", SignOf(cell->verdict), PointsText(*cell->lift)) : "–";
}

const char* WorthName(Worth worth) {
  switch (worth) {
    case Worth::kYes:
      return "yes";
    case Worth::kNo:
      return "no";
    case Worth::kCostsMore:
      return "costs more";
    case Worth::kUnknown:
      return "unknown";
  }
  return "";
}

std::string ChoiceText(const Choice& choice) {
  return fmt::format("{} {} the skill", choice.cell->name, choice.with_skill ? "with" : "without");
}

// "haiku with the skill: 3 points below the best (opus without the skill) at 14 % of its cost"
TerminalText SweetSpotLine(const SweetSpot& spot) {
  if (!spot.sweet_spot || !spot.best) return "";
  const Choice& sweet = spot.choices[*spot.sweet_spot];
  const Choice& best = spot.choices[*spot.best];
  if (*spot.sweet_spot == *spot.best) {
    return TerminalText::Format("sweet spot: {} (the best; no choice near it {})\n", ChoiceText(sweet),
                                spot.by_cost ? "is cheaper" : "uses fewer tokens");
  }
  const double points = std::round((best.rate - sweet.rate) * 100.0);
  const double before = spot.by_cost ? *best.cost_usd : best.tokens;
  const double share = before > 0 ? (spot.by_cost ? *sweet.cost_usd : sweet.tokens) / before : 1.0;
  const std::string rate = points == 0 ? "as good as the best"
                                       : fmt::format("{:.0f} point{} below the best", points, points == 1 ? "" : "s");
  const char* what = spot.by_cost ? "cost" : "tokens";
  const std::string at = std::lround(share * 100.0) == 100 ? fmt::format("for the same {}", what)
                                                           : fmt::format("at {} of its {}", PercentText(share), what);
  return TerminalText::Format("sweet spot: {}: {} ({}) {}\n", ChoiceText(sweet), rate, ChoiceText(best), at);
}

std::string MoneyText(const std::optional<double>& usd) { return usd ? fmt::format("${:.5f}", *usd) : "unknown"; }

// Each choice for one skill: its rate, tokens, cost, whether another is better in everything.
TerminalText ChoicesTable(const SweetSpot& spot, const Style& style) {
  Table table({{"model", Table::Align::kLeft, true},
               {"", Table::Align::kLeft},
               {"pass rate", Table::Align::kRight},
               {"tokens with prompt", Table::Align::kRight},
               {"$ per answer", Table::Align::kRight},
               {"worth it", Table::Align::kLeft},
               {"", Table::Align::kLeft}});
  for (std::size_t i = 0; i < spot.choices.size(); ++i) {
    const Choice& choice = spot.choices[i];
    const bool on_front = std::find(spot.pareto.begin(), spot.pareto.end(), i) != spot.pareto.end();
    const std::string note = spot.sweet_spot == i ? "sweet spot" : spot.best == i ? "best" : on_front ? "front" : "";
    table.AddRow({choice.cell->name, choice.with_skill ? "with" : "without", PercentText(choice.rate),
                  WithThousands(std::llround(choice.tokens)), MoneyText(choice.cost_usd),
                  choice.with_skill ? WorthName(WorthItsTokens(*choice.cell)) : "", note});
  }
  return table.Render(style);
}

Json ChoiceToJson(const Choice& choice) {
  return {{"model", choice.cell->model},
          {"with_skill", choice.with_skill},
          {"rate", choice.rate},
          {"tokens", choice.tokens},
          {"cost_usd", JsonOrNull(choice.cost_usd)}};
}

Json SweetSpotToJson(const SweetSpot& spot, const std::string& skill) {
  Json pareto = Json::array();
  for (const std::size_t i : spot.pareto) pareto.push_back(ChoiceToJson(spot.choices[i]));
  return {{"skill", skill},
          {"best", spot.best ? ChoiceToJson(spot.choices[*spot.best]) : Json(nullptr)},
          {"sweet_spot", spot.sweet_spot ? ChoiceToJson(spot.choices[*spot.sweet_spot]) : Json(nullptr)},
          {"by", spot.by_cost ? "cost" : "tokens"},
          {"pareto", std::move(pareto)}};
}

}  // namespace

const MatrixCell* Matrix::at(const std::string& skill, const std::string& model) const {
  const auto found = std::find_if(cells.begin(), cells.end(),
                                  [&](const MatrixCell& cell) { return cell.skill == skill && cell.model == model; });
  return found == cells.end() ? nullptr : &*found;
}

Matrix MakeMatrix(std::span<const JudgedRun> runs) {
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
  return matrix;
}

SweetSpot FindSweetSpot(const Matrix& matrix, const std::string& skill, double tolerance) {
  SweetSpot spot;
  for (const std::string& model : matrix.models) {
    const MatrixCell* cell = matrix.at(skill, model);
    if (cell == nullptr) continue;
    AddChoice(spot.choices, *cell, false);
    AddChoice(spot.choices, *cell, true);
  }
  spot.by_cost = std::all_of(spot.choices.begin(), spot.choices.end(),
                             [](const Choice& choice) { return choice.cost_usd.has_value(); });
  const auto price = [&](std::size_t i) { return spot.by_cost ? *spot.choices[i].cost_usd : spot.choices[i].tokens; };
  for (std::size_t i = 0; i < spot.choices.size(); ++i) {
    const Choice& choice = spot.choices[i];
    if (std::none_of(spot.choices.begin(), spot.choices.end(),
                     [&](const Choice& other) { return Dominates(other, choice); }))
      spot.pareto.push_back(i);
    const bool better = !spot.best || choice.rate > spot.choices[*spot.best].rate ||
                        (choice.rate == spot.choices[*spot.best].rate && price(i) < price(*spot.best));
    if (better) spot.best = i;
  }
  for (std::size_t i = 0; i < spot.choices.size(); ++i) {
    if (spot.choices[i].rate + tolerance + 1e-9 < spot.choices[*spot.best].rate) continue;
    const bool better =
        !spot.sweet_spot || price(i) < price(*spot.sweet_spot) ||
        (price(i) == price(*spot.sweet_spot) && spot.choices[i].rate > spot.choices[*spot.sweet_spot].rate);
    if (better) spot.sweet_spot = i;
  }
  return spot;
}

Worth WorthItsTokens(const MatrixCell& cell) {
  if (cell.verdict == Verdict::kHurts || cell.verdict == Verdict::kNoEffect) return Worth::kNo;
  if (cell.verdict == Verdict::kUndecided || !cell.baseline_rate || !cell.skill_rate || *cell.skill_rate <= 0)
    return Worth::kUnknown;
  if (*cell.baseline_rate <= 0) return Worth::kYes;
  const bool by_cost = cell.baseline_cost_usd && cell.skill_cost_usd;
  const std::optional<double>& before = by_cost ? cell.baseline_cost_usd : cell.baseline_tokens;
  const std::optional<double>& after = by_cost ? cell.skill_cost_usd : cell.skill_tokens;
  if (!before || !after) return Worth::kUnknown;
  return *after / *cell.skill_rate <= *before / *cell.baseline_rate ? Worth::kYes : Worth::kCostsMore;
}

TerminalText SweetSpotNote(const JudgedRun& run, double tolerance) {
  if (run.plan().students.size() < 2) return "";
  const Matrix matrix = MakeMatrix({&run, 1});
  return SweetSpotLine(FindSweetSpot(matrix, run.plan().skill.name, tolerance));
}

TerminalText MatrixText(const Matrix& matrix, const Style& style, double tolerance) {
  std::vector<Table::Column> columns = {{"skill", Table::Align::kLeft, true}};
  for (const std::string& model : matrix.models) {
    const auto cell = std::find_if(matrix.cells.begin(), matrix.cells.end(),
                                   [&](const MatrixCell& entry) { return entry.model == model; });
    columns.push_back(
        {TerminalText::EscapeLine(cell == matrix.cells.end() ? model : cell->name).Cut(24), Table::Align::kLeft});
  }
  Table table(std::move(columns));
  for (const std::string& skill : matrix.skills) {
    std::vector<std::string> row = {skill};
    for (const std::string& model : matrix.models) row.push_back(CellText(matrix.at(skill, model)));
    table.AddRow(row);
  }
  TerminalText out =
      table.Render(style) + "▲ helps  ▼ hurts  = no effect  ? undecided  – no lift  · not run   lift in points\n";
  for (const std::string& skill : matrix.skills) {
    const SweetSpot spot = FindSweetSpot(matrix, skill, tolerance);
    if (spot.choices.empty()) continue;
    out += "\n" + Tinted(style, Tint::kBold, TerminalText::EscapeLine(skill)) + "\n" + ChoicesTable(spot, style) +
           SweetSpotLine(spot);
  }
  return out;
}

Json MatrixToJson(const Matrix& matrix, double tolerance) {
  Json cells = Json::array();
  for (const MatrixCell& cell : matrix.cells) {
    cells.push_back({{"skill", cell.skill},
                     {"model", cell.model},
                     {"name", cell.name},
                     {"run", cell.run},
                     {"verdict", cell.lift ? Json(VerdictName(cell.verdict)) : Json(nullptr)},
                     {"lift", JsonOrNull(cell.lift)},
                     {"baseline",
                      {{"rate", JsonOrNull(cell.baseline_rate)},
                       {"tokens", JsonOrNull(cell.baseline_tokens)},
                       {"cost_usd", JsonOrNull(cell.baseline_cost_usd)}}},
                     {"with_skill",
                      {{"rate", JsonOrNull(cell.skill_rate)},
                       {"tokens", JsonOrNull(cell.skill_tokens)},
                       {"cost_usd", JsonOrNull(cell.skill_cost_usd)}}},
                     {"worth_its_tokens", WorthName(WorthItsTokens(cell))}});
  }
  Json spots = Json::array();
  for (const std::string& skill : matrix.skills)
    spots.push_back(SweetSpotToJson(FindSweetSpot(matrix, skill, tolerance), skill));
  return {{"skills", matrix.skills},
          {"models", matrix.models},
          {"cells", std::move(cells)},
          {"sweet_spots", std::move(spots)}};
}

}  // namespace upskill
