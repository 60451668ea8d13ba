// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace upskill {

// Outcomes of pairs (without the skill, with it): a win passes only with the skill, a loss only without. The counts are
// doubles because they are also extrapolated; integers are exact up to 2^53.
struct PairCounts {
  double wins = 0.0;
  double ties = 0.0;
  double losses = 0.0;

  double pairs() const { return wins + ties + losses; }
  double lift() const { return (wins - losses) / pairs(); }  // NaN without pairs

  PairCounts Mirrored() const { return {losses, ties, wins}; }

  void Add(bool without, bool with) {
    if (without == with) {
      ties += 1.0;
    } else if (with) {
      wins += 1.0;
    } else {
      losses += 1.0;
    }
  }
  PairCounts& operator+=(const PairCounts& other) {
    wins += other.wins;
    ties += other.ties;
    losses += other.losses;
    return *this;
  }
};

}  // namespace upskill
