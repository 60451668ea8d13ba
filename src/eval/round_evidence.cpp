// SPDX-License-Identifier: Apache-2.0
#include "eval/round_evidence.h"

#include <algorithm>

#include "util/invariant.h"

namespace upskill {
namespace {

bool SameCounts(const PairCounts& a, const PairCounts& b) {
  return a.wins == b.wins && a.ties == b.ties && a.losses == b.losses;
}

std::size_t FirstAtLeast(const std::vector<double>& values, double threshold) {
  return static_cast<std::size_t>(std::find_if(values.begin(), values.end(), [&](double v) { return v >= threshold; }) -
                                  values.begin());
}

// Evidence starts at 1.
double Most(const std::vector<double>& logarithms) {
  return logarithms.empty() ? 0.0 : std::max(0.0, *std::max_element(logarithms.begin(), logarithms.end()));
}

template <typename T>
void CutTo(std::vector<T>& values, std::size_t size) {
  if (values.size() > size) values.erase(values.begin() + static_cast<std::ptrdiff_t>(size), values.end());
}

}  // namespace

void RoundEvidence::Update(const CompleteRounds& complete, double min_lift) {
  const std::size_t rounds = complete.answers_repeat ? 1 : complete.rounds.size();
  PairCounts totals;
  std::size_t kept = 0;
  bool as_before = true;
  for (std::size_t round = 0; round < rounds; ++round) {
    totals += complete.CountsOfRound(round);
    as_before = as_before && round < totals_.size() && SameCounts(totals_[round], totals);
    if (as_before) {
      ++kept;
      continue;
    }
    CutTo(totals_, round);
    totals_.push_back(totals);
  }
  CutTo(totals_, rounds);
  CutTo(helps_, kept);
  CutTo(hurts_, kept);
  CutTo(sequences_, kept);
  for (std::size_t round = kept; round < rounds; ++round) {
    helps_.push_back(LogEvidence(totals_[round], min_lift));
    hurts_.push_back(LogEvidence(totals_[round].Mirrored()));
  }
}

double RoundEvidence::most_helps() const { return Most(helps_); }
double RoundEvidence::most_hurts() const { return Most(hurts_); }

bool RoundEvidence::HelpsFirst(double threshold) const {
  return FirstAtLeast(helps_, threshold) <= FirstAtLeast(hurts_, threshold);
}

const LiftSequence& RoundEvidence::Sequence(double alpha) {
  CHECK(!totals_.empty());
  while (sequences_.size() < totals_.size()) {
    LiftSequence next = sequences_.empty() ? LiftSequence(alpha) : sequences_.back();
    next.Add(totals_[sequences_.size()]);
    sequences_.push_back(next);
  }
  return sequences_.back();
}

}  // namespace upskill
