// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "eval/verdict/judged_run.h"

namespace upskill {

// What one verdict of a table of many skills and models rests on: p-values that hold at every look, with what answers
// lost to errors could have told against them, divided by the share of alpha that earlier looks at the same tests and
// the run's other comparisons leave.
struct TableEvidence {
  Verdict word = Verdict::kUndecided;  // of the skill's own run
  double p_helps = 1.0;
  double p_hurts = 1.0;
  double p_no_effect = 1.0;
  // E-values, for other procedures than JudgeTable's: the same evidence after the last round, times that share.
  double e_helps = 1.0;
  double e_hurts = 1.0;

  double p() const;  // of the word; 1 for undecided
};
TableEvidence TableEvidenceOf(const JudgedRun& run, std::size_t student);

struct TableVerdict {
  // Whether the word holds for the table as a whole: with probability 1 − alpha no `helps` that does is wrong, and the
  // same for `hurts` and for `no effect`.
  bool stands = false;
  double p = 1.0;  // the smallest alpha with which it does; 1 for undecided
};

// Holm's procedure, for each word by itself, over `planned` verdicts: at least those that are given; one that there are
// no answers for counts as not shown. It needs no independence, which there isn't: skills share their baselines.
std::vector<TableVerdict> JudgeTable(const std::vector<TableEvidence>& verdicts, std::size_t planned, double alpha);

}  // namespace upskill
