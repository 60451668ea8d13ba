// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "eval/journal/run_data.h"

namespace upskill {

// The final samples of both arms for one case in one round.
struct AnswerPair {
  FinalSample without;
  FinalSample with;
};

// Whether answers may be copies of each other (of a server with a cache), and not just short ones that are equal by
// chance: most cases have the same answers in all rounds, but not all cases do.
inline bool MayBeCopies(std::size_t copied, std::size_t cases) { return copied < cases && 2 * copied > cases; }

// The samples of a student that a verdict may rest on.
//
// Rounds count in order up to the first in which a cell has no sample. Errors never count: a case with a cell whose
// final sample is an error is excluded from every round, because dropping only the failed cells would favour answers
// that are fast enough to avoid a timeout. A round in which more than half of the cases that sometimes work failed is
// an outage: the round doesn't count, and its errors exclude no case.
//
// Points into the RunData it was made from, which must outlive it and must not change meanwhile.
class CompleteRounds {
 public:
  std::vector<std::size_t> cases;     // the cases that count, as indices into Plan::suite.cases
  std::vector<std::size_t> excluded;  // the other cases that were tried
  std::vector<int> rounds;            // the complete rounds' numbers, in order

  // Cases with the same input and files are the same request: one unit of evidence, since their answers may be copies.
  std::vector<std::size_t> units;         // by index into `cases`: its unit, from 0
  std::vector<int> unit_sizes;            // by unit: its cases. Each unit counts once, however many it has
  std::vector<std::size_t> unit_sources;  // by unit: equal if made from one source (SourceClusters)

  int tried = 0;  // the rounds in which every cell has a sample, outages included

  // Every cell has the same answer in all complete rounds, of which there are two or more (at temperature 0: one or
  // more). Further rounds would be copies, so only the first is evidence.
  bool answers_repeat = false;

  // By index into `cases`: whether its answers are the same in all complete rounds, in both arms. Empty unless they may
  // be copies (MayBeCopies).
  std::vector<bool> copied;

  // Takes indices into `rounds` and `cases`.
  AnswerPair pair(std::size_t round, std::size_t entry) const { return PairAt(rounds[round], cases[entry]); }

  // The rounds that are evidence.
  std::size_t evidence_rounds() const { return answers_repeat ? 1 : rounds.size(); }

  // Wins − losses of each unit in rounds[round].
  std::vector<int> SumsOfRound(std::size_t round) const;

  // The same as evidence for a lift above 0 (`positive`) or below it: what tells for that counts in the first round
  // alone where it is copied, and what tells against it counts in every round. So it is no more than there is, whether
  // these answers are copies of one, or the only ones that the model gives.
  std::vector<int> EvidenceOfRound(std::size_t round, bool positive) const;

 private:
  friend std::vector<CompleteRounds> FindCompleteRounds(const RunData& data, Arm against, int rounds);

  CompleteRounds(const RunData& data, std::size_t student, Arm against)
      : data_(&data), student_(student), against_(against) {}

  AnswerPair PairAt(int round, std::size_t case_index) const {
    return {data_->at(student_, against_, case_index, round), data_->at(student_, Arm::kSkill, case_index, round)};
  }
  bool Failed(int round, std::size_t case_index) const {
    const AnswerPair pair = PairAt(round, case_index);
    return !pair.without.answered || !pair.with.answered;
  }
  int RoundsTriedInFull(int limit) const;
  void Select();
  void FindCopies();
  bool IsCopied(std::size_t entry) const;
  // Without what changed in this way and was copied from an earlier round.
  std::vector<int> SumsWithout(std::size_t round, int repeated) const;

  const RunData* data_;
  std::size_t student_;
  Arm against_;
};

// One for each student of the plan, in its order: the arm kSkill paired with `against`, in rounds below `rounds`. Empty
// when the plan lacks an arm.
std::vector<CompleteRounds> FindCompleteRounds(const RunData& data, Arm against,
                                               int rounds = std::numeric_limits<int>::max());

}  // namespace upskill
