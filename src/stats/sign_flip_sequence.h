// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "stats/spending.h"
#include "stats/walk.h"

namespace upskill {

// A sign-flip test with a look after every round: group-sequential, exact and conditional.
//
// Each independent unit of a round (a case, or the cases with one input) contributes its change: the mean of its wins −
// losses, from −1 to 1. If the two arms don't differ, which units differ doesn't tell the signs: these are fair coins.
// Given the units that differed in all rounds so far, the distribution of the sum is therefore known. It is carried
// from round to round, less the mass that would have rejected already (P. Armitage, C. K. McPherson and B. C. Rowe, J.
// Royal Statistical Society A 132 (1969) 235), and the critical value of a round is the smallest for which the
// probability to have rejected by then is at most what the schedule allows.
//
// Units may have lifts that cancel out, and those of several cases may gain a little often and lose much seldom. So a
// unit that differs counts as a whole coin, whatever the size of its change d: with a lift of δ, the expectation of
// exp(a·d)/cosh(a) (or of 1 if it doesn't differ) is at most 1 + δ·tanh(a), since exp is below its chord on [−1, 1].
// The product over the units is at most 1 if their lifts add up to at most 0.
//
// One-sided: the test of "hurts" is the mirror image and has an error probability of its own.
class SignFlipSequence {
 public:
  SignFlipSequence(double alpha, const SpendingSchedule& schedule);

  // `changes`: of each unit in the next round, from −1 to 1.
  void AddRound(const std::vector<double>& changes);

  int rounds() const { return static_cast<int>(critical_.size()); }
  double sum() const { return sum_; }            // of the changes
  std::int64_t reach() const { return reach_; }  // of the sum: the units that differed

  // The critical value of each round: a sum of at least this rejects; more than the sum can reach if none does.
  const std::vector<std::int64_t>& critical() const { return critical_; }

  // The first round, from 1, whose sum was at least its critical value (at most the negative of it); 0: none.
  int helps_round() const { return helps_round_; }
  int hurts_round() const { return hurts_round_; }

 private:
  double alpha_;
  SpendingSchedule schedule_;
  Walk walk_;              // of fair coins that haven't been rejected
  double rejected_ = 0.0;  // their probability
  std::int64_t reach_ = 0;
  double sum_ = 0.0;
  std::vector<std::int64_t> critical_;
  int helps_round_ = 0;
  int hurts_round_ = 0;
};

// The smallest alpha with which the test rejects by the last of these rounds, to 1 part in 1,000 (rounded up): a
// p-value that is valid after every round. At most 1, at least 1e-12. (With few units, a test may, rarely, not reject
// with a slightly larger alpha than this; the schedule's reserve is many times larger than what that could add to an
// error.)
struct SequentialPValues {
  double helps = 1.0;
  double hurts = 1.0;
};
SequentialPValues SequentialPValuesOf(const std::vector<std::vector<double>>& rounds, const SpendingSchedule& schedule);

}  // namespace upskill
