// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stats/pair_counts.h"

namespace upskill {

// How often independent units had each outcome. A unit is a set of pairs that may depend on each other, in one round:
// those of the cases with one input; mostly a single pair. Its outcome is its wins − losses.
class UnitCounts {
 public:
  struct Entry {
    int size = 1;  // pairs
    int sum = 0;   // wins − losses
    double count = 0.0;
  };

  UnitCounts() = default;
  explicit UnitCounts(const PairCounts& pairs);  // each pair is a unit

  void Add(int size, int sum, double count = 1.0);
  UnitCounts& operator+=(const UnitCounts& other);

  UnitCounts Mirrored() const;            // wins and losses exchanged
  UnitCounts Times(double factor) const;  // all counts multiplied
  double pairs() const;
  double sum() const;                              // wins − losses of all pairs
  double lift() const { return sum() / pairs(); }  // NaN without pairs
  int largest() const;                             // size of a unit; 1 without any

  const std::vector<Entry>& entries() const { return entries_; }  // sorted by size and sum
  friend bool operator==(const UnitCounts& a, const UnitCounts& b);

 private:
  std::vector<Entry> entries_;
};

}  // namespace upskill
