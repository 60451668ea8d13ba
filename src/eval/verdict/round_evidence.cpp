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

}  // namespace

SpendingSchedule ScheduleOf(const Plan& plan) {
  return SpendingSchedule(plan.first_planned_rounds(), plan.sampling.temperature == 0.0);
}

RoundEvidence::RoundEvidence(const Plan& plan) : min_lift_(plan.verdict.min_lift), schedule_(ScheduleOf(plan)) {}

void RoundEvidence::Update(const CompleteRounds& complete) {
  const std::size_t rounds = complete.rounds.empty() ? 0 : complete.evidence_rounds();
  std::size_t kept = 0;
  bool as_before = unit_sizes_ == complete.unit_sizes;
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
  CutTo(helps_, kept);
  CutTo(hurts_, kept);
  CutTo(sequences_, kept);
  std::erase_if(signs_, [&](const auto& entry) { return static_cast<std::size_t>(entry.second.rounds()) > kept; });
  unit_sizes_ = complete.unit_sizes;
  unit_sources_ = complete.unit_sources;
  for (std::size_t round = kept; round < rounds; ++round) {
    UnitCounts totals = totals_.empty() ? UnitCounts() : totals_.back();
    std::vector<double>& changes = changes_.emplace_back();
    changes.reserve(unit_sizes_.size());
    for (std::size_t unit = 0; unit < unit_sizes_.size(); ++unit) {
      totals.Add(unit_sizes_[unit], sums_[round][unit]);
      changes.push_back(static_cast<double>(sums_[round][unit]) / unit_sizes_[unit]);
    }
    helps_.push_back(LogEvidence(totals, min_lift_));
    hurts_.push_back(LogEvidence(totals.Mirrored()));
    totals_.push_back(std::move(totals));
  }
}

SequenceState RoundEvidence::state() const {
  SequenceState state;
  state.rounds = static_cast<int>(sums_.size());
  for (const std::vector<double>& round : changes_) {
    for (const double change : round) {
      state.sum += change;
      state.differing += change != 0.0 ? 1.0 : 0.0;
    }
  }
  return state;
}

const SignFlipSequence& RoundEvidence::Signs(double alpha) {
  SignFlipSequence& signs = signs_.try_emplace(alpha, alpha, schedule_).first->second;
  while (static_cast<std::size_t>(signs.rounds()) < changes_.size())
    signs.AddRound(changes_[static_cast<std::size_t>(signs.rounds())]);
  return signs;
}

int RoundEvidence::HelpsRound(double alpha) {
  if (min_lift_ == 0.0) return Signs(alpha).helps_round();
  const double threshold = std::log(1.0 / alpha);
  const auto found = std::find_if(helps_.begin(), helps_.end(), [&](double v) { return v >= threshold; });
  return found == helps_.end() ? 0 : static_cast<int>(found - helps_.begin()) + 1;
}

int RoundEvidence::HurtsRound(double alpha) { return Signs(alpha).hurts_round(); }

SequentialPValues RoundEvidence::PValues() const {
  SequentialPValues p = SequentialPValuesOf(changes_, schedule_);
  if (min_lift_ != 0.0) p.helps = std::exp(-most_helps());
  return p;
}

double RoundEvidence::PNoEffect(double margin) const {
  double above = 0.0;  // the most evidence for a lift above −margin; a logarithm
  double below = 0.0;
  for (const UnitCounts& totals : totals_) {
    above = std::max(above, LogEvidence(totals, -margin));
    below = std::max(below, LogEvidence(totals.Mirrored(), -margin));
  }
  return std::min(1.0, 2.0 * std::exp(-std::min(above, below)));
}

double RoundEvidence::most_helps() const { return Most(helps_); }
double RoundEvidence::most_hurts() const { return Most(hurts_); }

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
