// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/runs_text.h"
#include "report/terminal/table.h"
#include "report/terminal/verdict_text.h"
#include "util/json.h"

namespace upskill {

// The figures of reports, each once: its name in every place that shows it (null: not shown there), and how it is
// computed. A place shows its columns in the order of the tables below; a new column is a row in columns.cpp.

// A figure of one arm of a student. Names in documents and files: never rename.
struct ArmColumn {
  Json (*value)(const ArmSummary& arm);  // null: unknown
  const char* json = nullptr;            // `eval --json`: key of an arm
  const char* tokens = nullptr;          // `eval --json`: key of an arm's tokens
  const char* csv = nullptr;             // `runs --csv`
  const char* page = nullptr;            // HTML report: key of an arm
  const char* skills = nullptr;          // tables of skills: key in JSON; with _without
                                         // and _with, columns of CSV
  const char* compared = nullptr;        // `compare`: heading, …
  const char* compared_json = nullptr;   // … and key, of the skill's arm
  std::string (*text)(double value) = nullptr;
};
std::span<const ArmColumn> ArmColumns();

// An object of the columns that have a name in `place`; null without the arm.
Json ArmToJson(const ArmSummary* arm, const char* ArmColumn::* place);

// A value as a field of CSV: "" if unknown; of a fraction at most `digits` digits, or as many as it takes (0).
std::string CsvValue(const Json& value, int digits = 6);

// One student of one run, for tables that people read.
struct StudentRow {
  const StudentSummary& student;
  const StudentVerdict& verdict;
  Arm reference = Arm::kBaseline;  // that the skill is compared with
  bool wide = true;                // there is room for counts
  const RunRow* stored = nullptr;  // of `runs`

  std::optional<double> lift() const { return ShownLift(student, verdict, reference); }
};
std::vector<StudentRow> StudentRowsOf(const JudgedRun& run);

// A column of a table with a row for each student, or a line of a student's card. In headings, {reference} is the
// arm that the skill is compared with.
struct StudentColumn {
  std::string (*text)(const StudentRow& row);
  const char* eval = nullptr;  // `eval`'s table on the terminal
  const char* runs = nullptr;  // `runs`
  const char* markdown = nullptr;
  const char* page = nullptr;                // HTML report: the table of all runs
  const char* card = nullptr;                // HTML report: a student's card; a text of "–" is left out
  Table::Align align = Table::Align::kLeft;  // on the terminal and in Markdown
  bool is_name = false;                      // a text of unknown origin, which may be cut
  int drop_rank = 0;                         // as Table::Column's
  bool (*is_needed)(std::span<const StudentRow> rows) = nullptr;  // absent: always
};

// The columns that `place` shows of these rows.
std::vector<const StudentColumn*> StudentColumns(const char* StudentColumn::* place,
                                                 std::span<const StudentRow> rows = {});

// A heading with {reference} filled in.
std::string HeadingText(const char* heading, std::span<const StudentRow> rows);

// The rows as a table for the terminal.
TerminalText StudentTable(const char* StudentColumn::* place, std::span<const StudentRow> rows, const Style& style);

// What some answers of an arm lack, and requests that failed: name on a card, and how often, for each format.
struct ArmNote {
  const char* name = "";
  std::string card;
  std::string terminal;  // "" where the terminal doesn't say it
  std::string markdown;
};
std::vector<ArmNote> NotesOn(const ArmSummary& arm);

// "$0.0031 → $0.0019": of a passed answer; `unknown` where neither is known.
std::string PerPassText(const StudentRow& row, const std::string& unknown);

// "+42 (+27 … +56)", in points; the interval where both ends are known.
std::string PointsWithRange(double lift, const std::optional<double>& low, const std::optional<double>& high);

}  // namespace upskill
