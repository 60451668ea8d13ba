// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/style.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// One case of one student whose pass rate differs between A and B: its pass rates with the skill.
struct CaseChange {
  std::string case_id;
  double before = 0.0;
  double after = 0.0;
};

// What one side says of a student. Absent: unknown or not run.
struct ComparedSide {
  bool has_student = false;
  ArmSummary reference;  // of the answers that those with the skill are compared with; empty: none
  ArmSummary skill;      // of those with the skill
  std::optional<double> lift;
  std::optional<double> shown_lift;  // ShownLift
  std::optional<Verdict> verdict;    // absent without a lift
};

struct StudentComparison {
  std::string model;
  ComparedSide a;
  ComparedSide b;
  std::vector<CaseChange> changed;  // only where both sides have the student
  bool same_answers = false;        // with the skill: those of one run, in both
};

struct RunComparison {
  std::string a;  // names of the runs
  std::string b;
  std::vector<StudentComparison> students;  // of A, then those that only B has
};

// Errors: the runs' suites differ (a case that only one has, or one whose input, files or checks differ); the
// message names the first difference. Answers to different questions can't be compared.
Result<RunComparison> CompareRuns(const JudgedRun& a, const JudgedRun& b);

TerminalText CompareText(const RunComparison& comparison, const Style& style);
Json CompareToJson(const RunComparison& comparison);

}  // namespace upskill
