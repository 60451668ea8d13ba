// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "util/json.h"

namespace upskill {

struct Plan;

// Evidence of earlier runs, as natural logarithms.
struct PriorEvidence {
  double helps = 0.0;
  double hurts = 0.0;
};

inline constexpr int kMaxLooks = 1'000'000;  // further ones count as this one

// What earlier looks at the same tests (eval/verdict/ledger.h) and the other comparisons of the run leave of
// VerdictOptions::alpha.
struct AlphaShare {
  int look = 0;         // which look at these tests the verdict is, from 1; 0: not counted, so that none is taken off
  int versions = 1;     // of the skill that were judged on these tests, this one included
  int comparisons = 1;  // the arms that the skill is compared with, here or in the run that this one continues
  // By model string: a student that was judged with the same version, tests and settings, but other seeds. Its verdict
  // rests on the product of all e-values alone.
  std::map<std::string, PriorEvidence> prior;
  std::vector<std::string> prior_runs;  // whose evidence that is
  std::string last_run;                 // the last earlier run that looked at these tests; empty: none, or unknown
};

// The error probability that earlier looks at the same tests leave to this one.
double LookAlpha(const Plan& plan);
// The error probability of one comparison, over all students and looks.
double EffectiveAlpha(const Plan& plan);

Json AlphaShareToJson(const AlphaShare& share);
AlphaShare AlphaShareFromJson(const Json& json);  // missing fields have their defaults

}  // namespace upskill
