// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "eval/plan.h"
#include "eval/sample.h"
#include "stats/pair_counts.h"

namespace upskill {

// Both arms' answers to one case in one round. The samples belong to the list that the rounds were found in.
struct AnswerPair {
  const Sample* without = nullptr;
  const Sample* with = nullptr;
  bool passed_without = false;
  bool passed_with = false;
};

// What of a student's samples a verdict may rest on.
//
// Rounds are taken in order up to the first that hasn't been tried in full (a cell without any sample). Errors never
// enter: a case with a cell whose last word is an error is taken out of every round, for leaving out only the failed
// cells would keep the answers that don't run into time-outs. A round in which more than half of the cases that
// sometimes work failed is an outage: then the round doesn't count, and its errors take no case out.
struct CompleteRounds {
  std::vector<std::size_t> cases;               // that count, as indexes into Plan::suite.cases
  std::vector<std::size_t> excluded;            // the others that were tried
  std::vector<std::vector<AnswerPair>> rounds;  // complete rounds in order, each with one pair per entry of `cases`

  // Every cell of every whole round has the answer that it had in the first; with a single round: the temperature is 0.
  bool answers_repeat = false;

  std::vector<std::size_t> always_passed;  // of `cases`: in every arm of the plan
  std::vector<std::size_t> never_passed;

  // By entry of `cases`, over the first `count` rounds.
  std::vector<PairCounts> CountsByCase(std::size_t count) const;
};

// One for each student of the plan, in its order: the arm kSkill paired with `against`. Empty when the plan lacks an
// arm.
std::vector<CompleteRounds> FindCompleteRounds(const Plan& plan, const std::vector<Sample>& samples, Arm against);

}  // namespace upskill
