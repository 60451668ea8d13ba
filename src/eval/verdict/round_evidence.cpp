// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/round_evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "util/invariant.h"

namespace upskill {
namespace {

// Evidence starts at 1.
double Most(const std::vector<double>& logarithms) {
  return logarithms.empty() ? 0.0 : std::max(0.0, *std::max_element(logarithms.begin(), logarithms.end()));
}

template <typename T>
void CutTo(std::vector<T>& values, std::size_t size) {
  if (values.size() > size) values.erase(values.begin() + static_cast<std::ptrdiff_t>(size), values.end());
}

// Of each unit in a round; adds them to the totals.
std::vector<double> ChangesOf(const std::vector<int>& sums, const std::vector<int>& sizes, UnitCounts& totals) {
  std::vector<double> changes;
  changes.reserve(sizes.size());
  for (std::size_t unit = 0; unit < sizes.size(); ++unit) {
    totals.Add(sizes[unit], sums[unit]);
    changes.push_back(static_cast<double>(sums[unit]) / sizes[unit]);
  }
  return changes;
}

}  // namespace

SpendingSchedule ScheduleOf(const Plan& plan) {
  return SpendingSchedule(plan.first_planned_rounds(), plan.sampling.temperature == 0.0);
}

RoundEvidence::RoundEvidence(const Plan& plan) : min_lift_(plan.verdict.min_lift), schedule_(ScheduleOf(plan)) {}

void RoundEvidence::Update(const CompleteRounds& complete) {
  const std::size_t rounds = complete.rounds.empty() ? 0 : complete.evidence_rounds();
  std::size_t kept = 0;
  bool as_before = unit_sizes_ == complete.unit_sizes && copied_ == complete.copied;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<int> sums = complete.SumsOfRound(round);
    as_before = as_before && round < sums_.size() && sums_[round] == sums;
    if (as_before) {
      ++kept;
      continue;
    }
    CutTo(sums_, round);
    sums_.push_back(std::move(sums));
  }
  CutTo(sums_, rounds);
  CutTo(changes_, kept);
  CutTo(totals_, kept);
  CutTo(sequences_, kept);
  unit_sizes_ = complete.unit_sizes;
  unit_sources_ = complete.unit_sources;
  copied_ = complete.copied;
  for (std::size_t round = kept; round < rounds; ++round) {
    UnitCounts totals = totals_.empty() ? UnitCounts() : totals_.back();
    changes_.push_back(ChangesOf(sums_[round], unit_sizes_, totals));
    totals_.push_back(std::move(totals));
  }
  UpdateSide(complete, kept, true, gains_);
  UpdateSide(complete, kept, false, losses_);
}

void RoundEvidence::UpdateSide(const CompleteRounds& complete, std::size_t kept, bool positive, Side& side) const {
  CutTo(side.changes, kept);
  CutTo(side.totals, kept);
  CutTo(side.logarithms, kept);
  std::erase_if(side.signs, [&](const auto& entry) { return static_cast<std::size_t>(entry.second.rounds()) > kept; });
  for (std::size_t round = kept; round < sums_.size(); ++round) {
    if (has_copies()) {
      UnitCounts totals = side.totals.empty() ? UnitCounts() : side.totals.back();
      side.changes.push_back(ChangesOf(complete.EvidenceOfRound(round, positive), unit_sizes_, totals));
      side.totals.push_back(std::move(totals));
    }
    const UnitCounts& totals = has_copies() ? side.totals[round] : totals_[round];
    side.logarithms.push_back(positive ? LogEvidence(totals, min_lift_) : LogEvidence(totals.Mirrored()));
  }
}

SequenceState RoundEvidence::state() const {
  const bool positive = totals_.empty() || totals().sum() >= 0.0;
  SequenceState state;
  state.rounds = static_cast<int>(sums_.size());
  for (const std::vector<double>& round : ChangesFor(positive ? gains_ : losses_)) {
    for (const double change : round) {
      state.sum += change;
      state.differing += change != 0.0 ? 1.0 : 0.0;
    }
  }
  return state;
}

const SignFlipSequence& RoundEvidence::Signs(double alpha, Side& side) const {
  SignFlipSequence& signs = side.signs.try_emplace(alpha, alpha, schedule_).first->second;
  const std::vector<std::vector<double>>& changes = ChangesFor(side);
  while (static_cast<std::size_t>(signs.rounds()) < changes.size())
    signs.AddRound(changes[static_cast<std::size_t>(signs.rounds())]);
  return signs;
}

int RoundEvidence::HelpsRound(double alpha) {
  if (min_lift_ == 0.0) return Signs(alpha, gains_).helps_round();
  const double threshold = std::log(1.0 / alpha);
  const std::vector<double>& helps = gains_.logarithms;
  const auto found = std::find_if(helps.begin(), helps.end(), [&](double v) { return v >= threshold; });
  return found == helps.end() ? 0 : static_cast<int>(found - helps.begin()) + 1;
}

int RoundEvidence::HurtsRound(double alpha) { return Signs(alpha, has_copies() ? losses_ : gains_).hurts_round(); }

SequentialPValues RoundEvidence::PValues() const {
  SequentialPValues p = SequentialPValuesOf(ChangesFor(gains_), schedule_);
  if (has_copies()) p.hurts = SequentialPValuesOf(losses_.changes, schedule_).hurts;
  if (min_lift_ != 0.0) p.helps = std::exp(-most_helps());
  return p;
}

double RoundEvidence::PNoEffect(double margin) const {
  double above = 0.0;  // the most evidence for a lift above −margin; a logarithm
  double below = 0.0;
  const std::size_t counting = has_copies() ? 1 : totals_.size();
  for (std::size_t i = 0; i < counting && i < totals_.size(); ++i) {
    above = std::max(above, LogEvidence(totals_[i], -margin));
    below = std::max(below, LogEvidence(totals_[i].Mirrored(), -margin));
  }
  return std::exp(-std::min(above, below));
}

double RoundEvidence::most_helps() const { return Most(gains_.logarithms); }
double RoundEvidence::most_hurts() const { return Most(losses_.logarithms); }

const LiftSequence& RoundEvidence::Advance(double alpha) {
  CHECK(!totals_.empty());
  while (sequences_.size() < totals_.size()) {
    LiftSequence next = sequences_.empty() ? LiftSequence(alpha) : sequences_.back();
    next.Add(totals_[sequences_.size()]);
    sequences_.push_back(next);
  }
  return sequences_.back();
}

Interval RoundEvidence::Sequence(double alpha) {
  const Interval range = Advance(alpha).range();
  return has_copies() ? Hull(range, sequences_.front().range()) : range;
}

Interval RoundEvidence::SequenceWithLift(double alpha) {
  const Interval range = Advance(alpha).RangeWith(totals());
  return has_copies() ? Hull(range, sequences_.front().range()) : range;
}

}  // namespace upskill
