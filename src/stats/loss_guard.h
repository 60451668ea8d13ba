// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace upskill {

// A guard against a large loss of the pass rate: it speaks early of a ruinous change, and lets others pass after few
// answers.
//
// An answer tells against the new version if the old one passed or the new one failed. If the new version isn't worse,
// on average over the cases, the number of answers that tell against it is, in the upper tail, at most binomial with
// probability 1/2, however much the cases differ (W. Hoeffding, Annals of Mathematical Statistics 27 (1956) 713,
// theorem 4). So this is the sign test of all answers, not of the pairs that differ: 4 of 6 cases lost and none gained
// show a loss (p = 0.019), whereas the signs of these four don't (p = 0.063).
//
// In a run whose rounds aren't fixed, the first look is after the first round with kFewestPairs or more in all, and the
// others after each later round. Look k may spend 2·alpha/3^k, however many there will be. Another round is needed
// while a loss is neither shown nor unlikely: as long as p is at most twice alpha.
class LossGuard {
 public:
  enum class State { kNotShown, kOpen, kShown };

  // `looks_again`: the number of rounds isn't fixed. Otherwise there is one look, after the last round.
  LossGuard(double alpha, bool looks_again) : alpha_(alpha), looks_again_(looks_again) {}

  // At this look, from 1. `net`: pairs that lost, less those that gained.
  State At(int look, std::int64_t pairs, std::int64_t net) const;

  // The smallest loss, in whole points, that is shown by the last of these rounds in at least `power` of the runs, if
  // every case passes at `rate` with the old version; with cases that differ, it is shown more often. Nothing if even
  // losing everything isn't.
  std::optional<double> FindableLoss(std::int64_t units, int rounds, double rate, double power = 0.9) const;

  // The chance that a loss is shown by the last of these rounds.
  double ChanceToShow(std::int64_t units, int rounds, double rate, double loss) const;

  // The one-sided p-value of "not worse".
  static double PValue(std::int64_t pairs, std::int64_t net);

  static constexpr std::int64_t kFewestPairs = 11;

 private:
  double Level(int look) const;                                   // the largest p-value that shows a loss
  std::int64_t LeastNet(std::int64_t pairs, double level) const;  // with at most this p-value

  double alpha_;
  bool looks_again_;
};

}  // namespace upskill
