// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/style.h"
#include "report/terminal/verdict_text.h"

namespace upskill {

// One student of one run.
struct RunRow {
  std::string run;
  std::string created;
  std::string skill;
  StudentSummary student;
  StudentVerdict verdict;
  std::size_t cells = 0;
  std::size_t answered = 0;
  std::string part;   // "2/8": of a run in shards; empty: the whole run
  std::string trial;  // Plan::trial
  bool rechecked = false;

  // The lift that the verdict tells, else the summary's.
  const std::optional<double>& lift() const { return verdict.lift ? verdict.lift : student.lift; }
  // What the skill is compared with: another version of it if the run has no answers without one.
  Arm reference() const {
    return student.arms.contains(Arm::kPrevious) && !student.arms.contains(Arm::kBaseline) ? Arm::kPrevious
                                                                                           : Arm::kBaseline;
  }
  std::optional<double> shown_lift() const { return ShownLift(student, verdict, reference()); }
};

enum class RunMetric { kSuccess, kTokens, kCost, kTime };

// The run's name, with its part: "2026_11_21_10_12_33-abcd shard 2/8".
std::string RunLabel(const RunRow& row);

std::vector<RunRow> RowsOf(const JudgedRun& run);

// For each skill and model (by its model string and name) the newest of `rows` (given oldest first) that has a lift, or
// else the newest, as bars of the metric.
TerminalText RunBars(const std::vector<RunRow>& rows, RunMetric metric, const Style& style);

// Every row in one table.
TerminalText RunTable(const std::vector<RunRow>& rows, const Style& style);

// RFC 4180 with CRLF and a head line. Text that a spreadsheet would take for a formula gets a leading apostrophe.
std::string RunCsv(const std::vector<RunRow>& rows);

}  // namespace upskill
