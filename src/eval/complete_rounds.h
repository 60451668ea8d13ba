// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "eval/run_data.h"
#include "stats/pair_counts.h"

namespace upskill {

// Both arms' final samples of one case in one round.
struct AnswerPair {
  const FinalSample* without = nullptr;
  const FinalSample* with = nullptr;
};

// What of a student's samples a verdict may rest on.
//
// Rounds are taken in order up to the first that hasn't been tried in full (a cell without any sample). Errors never
// enter: a case with a cell whose final sample is an error is taken out of every round, for leaving out only the failed
// cells would keep the answers that don't run into time-outs. A round in which more than half of the cases that
// sometimes work failed is an outage: then the round doesn't count, and its errors take no case out.
//
// Points into the RunData it was made from, which must outlive it and get no samples meanwhile.
class CompleteRounds {
 public:
  std::vector<std::size_t> cases;     // that count, as indexes into Plan::suite.cases
  std::vector<std::size_t> excluded;  // the others that were tried
  std::vector<int> rounds;            // numbers of the complete rounds, in order

  // Every cell of every complete round has the answer that it had in the first; with a single round: the temperature
  // is 0.
  bool answers_repeat = false;

  // Of entries of `rounds` and `cases`.
  AnswerPair pair(std::size_t round, std::size_t entry) const { return PairAt(rounds[round], cases[entry]); }

  // The outcomes of one entry of `rounds`.
  PairCounts CountsOfRound(std::size_t round) const;
  // By entry of `cases`, over the first `count` entries of `rounds`.
  std::vector<PairCounts> CountsByCase(std::size_t count) const;

 private:
  friend std::vector<CompleteRounds> FindCompleteRounds(const RunData& data, Arm against, int rounds);

  CompleteRounds(const RunData& data, std::size_t student, Arm against)
      : data_(&data), student_(student), against_(against) {}

  AnswerPair PairAt(int round, std::size_t case_index) const {
    return {&data_->at(student_, against_, case_index, round), &data_->at(student_, Arm::kSkill, case_index, round)};
  }
  bool Failed(int round, std::size_t case_index) const {
    const AnswerPair pair = PairAt(round, case_index);
    return !pair.without->answered || !pair.with->answered;
  }
  int RoundsTriedInFull(int limit) const;
  void Select(int tried);
  bool AllRoundsEqual() const;

  const RunData* data_;
  std::size_t student_;
  Arm against_;
};

// One for each student of the plan, in its order: the arm kSkill paired with `against`, in rounds below `rounds`. Empty
// when the plan lacks an arm.
std::vector<CompleteRounds> FindCompleteRounds(const RunData& data, Arm against,
                                               int rounds = std::numeric_limits<int>::max());

}  // namespace upskill
