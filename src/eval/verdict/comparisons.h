// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// The verdicts on a plan's skill against each of its other arms, by student.
//
// Comparisons share alpha by Holm's procedure: each starts with an equal share, and those in which the skill helps
// every student pass theirs on to the others (and the same for `hurts`). The verdict against ComparedArm rests on the
// evidence of earlier seeds as well, if there is any (AlphaShare::prior).
//
// Changes the share of `data` while it runs.
std::map<Arm, std::vector<StudentVerdict>> JudgeComparisons(RunData& data);

// The word that this run's and the earlier evidence give together; logarithms. The student has evidence in
// AlphaShare::prior.
Verdict CombinedWord(const Plan& plan, const Student& student, double log_helps, double log_hurts);

}  // namespace upskill
