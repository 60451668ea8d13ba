// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/choice_answers.h"
#include "eval/verdict/good_enough.h"
#include "eval/verdict/judged_run.h"
#include "eval/verdict/table_verdicts.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {

// The result of the newest run that has both the skill and the model.
struct MatrixCell {
  std::string skill;
  std::string model;  // Student::spec
  std::string name;   // for tables
  std::string run;
  Verdict verdict = Verdict::kUndecided;  // means nothing without a lift
  std::optional<double> lift;
  std::optional<double> shown_lift;  // ShownLift
  std::optional<double> low;         // its interval, as reports of the run show it
  std::optional<double> high;
  double alpha = VerdictOptions().alpha;  // of the run
  TableEvidence evidence;
  TableVerdict in_table;  // whether the verdict holds for the whole matrix
  ArmSummary baseline;    // of the answers; without any: the arm wasn't measured
  ArmSummary with_skill;
  std::optional<ChoiceAnswers> baseline_answers;  // what contrasts between choices rest on
  std::optional<ChoiceAnswers> skill_answers;
  // Of a run that has its figures: makes the answers of an arm in place of the two. Not longer than the run.
  std::function<ChoiceAnswers(Arm arm)> load_answers;
};

// Skills × models over many runs.
struct Matrix {
  std::vector<std::string> skills;  // in the order of their first run
  std::vector<std::string> models;
  std::vector<MatrixCell> cells;
  std::size_t verdicts = 0;  // that the matrix is judged over (JudgeTable): its cells, or more if more were planned
  double alpha = VerdictOptions().alpha;  // of the matrix: the smallest of its runs

  const MatrixCell* at(const std::string& skill, const std::string& model) const;
};

// `runs`: oldest first. `planned`: the number of verdicts that were planned, if these may be fewer.
Matrix MakeMatrix(std::span<const JudgedRun> runs, std::size_t planned = 0);

// Of one run, whose answers are made when they are looked at and not kept: those of a long run take as much memory as
// its figures. Not longer than the run.
Matrix MakeLightMatrix(const JudgedRun& run);

// One way to do a skill's job: a model, with the skill or without.
struct Choice {
  const MatrixCell* cell = nullptr;
  bool with_skill = false;
  double rate = 0.0;
  std::optional<double> tokens;  // absent: unknown, like the cost
  std::optional<double> cost_usd;

  // It has a skill that was compared and isn't shown to help.
  bool has_doubtful_skill() const { return with_skill && cell->lift && cell->verdict != Verdict::kHelps; }
  const ChoiceAnswers* answers() const {
    const std::optional<ChoiceAnswers>& answers = with_skill ? cell->skill_answers : cell->baseline_answers;
    return answers ? &*answers : nullptr;
  }
};

// What to use for one skill's job. Choices point into the matrix.
struct SweetSpot {
  std::vector<Choice> choices;
  std::vector<Choice> not_compared;  // choices whose price (tokens or cost, as for the others) isn't known
  std::vector<std::size_t>
      pareto;  // of choices: no other is at least as good in rate, tokens and cost and better in one
  std::optional<std::size_t> best;  // by the estimates: highest pass rate, then cheapest. Absent: nothing passed
  // The cheapest choice that is shown to be not worse than any other by more than `margin`: in money where every
  // choice's cost is known and some cost anything, else in tokens. Absent: none is shown to be, or nothing passed.
  std::optional<std::size_t> sweet_spot;
  std::optional<GoodEnough> test;  // what that rests on; absent for fewer than two choices
  double margin = VerdictOptions().margin;
  bool by_cost = false;
};
SweetSpot FindSweetSpot(const Matrix& matrix, const std::string& skill, double margin = VerdictOptions().margin);

// "best value: haiku with the skill is not worse than any other choice by more than 5 points (95 % sure), at
// 14 % of the cost of the best (opus without the skill)", or why that isn't shown.
TerminalText SweetSpotLine(const SweetSpot& spot);

// "not compared: local (neither tokens nor cost are known)", or nothing.
TerminalText NotComparedLine(const SweetSpot& spot);
Json SweetSpotToJson(const SweetSpot& spot, const std::string& skill);

// Whether the skill pays for its tokens with a model, at an error rate of 5 %. A skill that hurts or has no effect
// isn't worth any; one that helps is if a passed answer is shown to cost no more with it than without it, in money
// where known, else in tokens: if the cost of an answer grows by no larger factor than the pass rate. That rests on
// three bounds (the ratio of the costs, the lift, the rate without the skill), which share the 5 % evenly.
enum class Worth {
  kYes,
  kNo,
  kCostsMore,  // it helps, but a passed answer is shown to cost more
  kNotShown,   // more answers are needed
  kUnknown     // there are no answers to compare, or nothing is known of what they cost
};
Worth WorthItsTokens(const MatrixCell& cell);
// For tables: WorthName, or "33 % less so far", the measured price of a passed answer, where the skill helps and
// nothing is shown of its price. Without a cost, a passed answer "costs" in tokens alone.
std::string WorthText(const MatrixCell& cell);

// What to use of one run's models, which `spot` has found in `matrix`. Not longer than the run.
struct RunChoices {
  Matrix matrix;
  SweetSpot spot;
};
RunChoices ChoicesOfRun(const JudgedRun& run, double margin = VerdictOptions().margin);

// What to use of a table: "Use a and b. Leave out c. Not decided, so leave out for now: d." A skill that helps any
// model is to be used; empty if nothing is compared.
std::string TableResult(const Matrix& matrix);

// For which models a skill pays and for which it doesn't: "s pays for haiku (50 % → 75 %, a passed answer cost 33 %
// less); makes no difference to opus (97 % → 97 %)."
std::string WorthSentence(const Matrix& matrix, const std::string& skill);

// The line of one run's best value; nothing for a single model.
TerminalText SweetSpotNote(const JudgedRun& run, double margin = VerdictOptions().margin);

// A choice as tables show it.
struct ChoiceRow {
  std::string model;
  std::string skill;  // "with" or "without"
  std::string rate;
  std::string tokens;  // of an answer, with the prompt
  std::string cost;
  std::string worth;  // whether the skill is; empty without it
  std::string note;   // "best value", "highest" (pass rate) or nothing
};
std::vector<ChoiceRow> ChoiceRows(const SweetSpot& spot);

// The columns of a table of choices, in every format.
struct ChoiceColumn {
  const char* heading = "";
  std::string ChoiceRow::* text = nullptr;
  bool is_number = false;
  bool is_name = false;  // a text of unknown origin, which may be cut
};
std::span<const ChoiceColumn> ChoiceColumns();

// What files tell of a cell, by key, in their order; then the columns of ArmColumns() for tables of skills, then
// whether the skill is worth its tokens.
struct CellColumn {
  const char* key = "";
  Json (*value)(const MatrixCell& cell) = nullptr;
  int digits = 0;               // of a number in CSV; 0: as many as it takes
  bool csv_needs_lift = false;  // empty in CSV where the cell has no lift
};
std::span<const CellColumn> CellColumns();

// The models' names, for headings.
std::vector<std::string> ModelNames(const Matrix& matrix);

const char* WorthName(Worth worth);  // "yes", "no", "costs more", …

// "5 of 7 verdicts hold for the table as a whole (✓): …", with how that is decided; nothing for a single verdict.
std::string TableNote(const Matrix& matrix);

// The table of verdicts and lifts, then for each skill its best value and for each model whether the skill is worth it.
TerminalText MatrixText(const Matrix& matrix, const Style& style, double margin = VerdictOptions().margin);
Json MatrixToJson(const Matrix& matrix, double margin = VerdictOptions().margin);

}  // namespace upskill
