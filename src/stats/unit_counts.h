// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stats/pair_counts.h"

namespace upskill {

// How often independent units had each outcome. A unit is a set of pairs that may depend on each other, in one round:
// those of the cases with one input; mostly a single pair. Its outcome is its change, the mean of its wins − losses, so
// that each unit counts once, however many pairs it has.
class UnitCounts {
 public:
  struct Entry {
    int size = 1;  // the change is sum/size, a fraction in lowest terms
    int sum = 0;
    double count = 0.0;
    double change() const { return static_cast<double>(sum) / size; }
  };

  UnitCounts() = default;
  explicit UnitCounts(const PairCounts& pairs);  // each pair is a unit

  // A unit of `size` pairs with this sum of wins − losses.
  void Add(int size, int sum, double count = 1.0);
  UnitCounts& operator+=(const UnitCounts& other);

  UnitCounts Mirrored() const;            // wins and losses exchanged
  UnitCounts Times(double factor) const;  // all counts multiplied
  double units() const;
  double sum() const;                              // of the changes
  double lift() const { return sum() / units(); }  // NaN without units

  const std::vector<Entry>& entries() const { return entries_; }  // sorted by size and sum
  friend bool operator==(const UnitCounts& a, const UnitCounts& b);

 private:
  std::vector<Entry> entries_;
};

}  // namespace upskill
