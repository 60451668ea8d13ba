// SPDX-License-Identifier: Apache-2.0
#include "stats/unit_counts.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace upskill {

UnitCounts::UnitCounts(const PairCounts& pairs) {
  Add(1, -1, pairs.losses);
  Add(1, 0, pairs.ties);
  Add(1, 1, pairs.wins);
}

void UnitCounts::Add(int size, int sum, double count) {
  if (count == 0.0) return;
  const int divisor = std::gcd(size, sum);
  size /= divisor;
  sum /= divisor;
  const auto before = [](const Entry& entry, const std::pair<int, int>& key) {
    return std::tie(entry.size, entry.sum) < std::tie(key.first, key.second);
  };
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair(size, sum), before);
  if (at != entries_.end() && at->size == size && at->sum == sum) {
    at->count += count;
  } else {
    entries_.insert(at, {size, sum, count});
  }
}

UnitCounts& UnitCounts::operator+=(const UnitCounts& other) {
  for (const Entry& entry : other.entries_) Add(entry.size, entry.sum, entry.count);
  return *this;
}

UnitCounts UnitCounts::Mirrored() const {
  UnitCounts mirrored;
  for (const Entry& entry : entries_) mirrored.Add(entry.size, -entry.sum, entry.count);
  return mirrored;
}

UnitCounts UnitCounts::Times(double factor) const {
  UnitCounts scaled;
  for (const Entry& entry : entries_) scaled.Add(entry.size, entry.sum, entry.count * factor);
  return scaled;
}

double UnitCounts::units() const {
  double units = 0.0;
  for (const Entry& entry : entries_) units += entry.count;
  return units;
}

double UnitCounts::sum() const {
  double sum = 0.0;
  for (const Entry& entry : entries_) sum += entry.change() * entry.count;
  return sum;
}

bool operator==(const UnitCounts& a, const UnitCounts& b) {
  return std::equal(a.entries_.begin(), a.entries_.end(), b.entries_.begin(), b.entries_.end(),
                    [](const UnitCounts::Entry& x, const UnitCounts::Entry& y) {
                      return x.size == y.size && x.sum == y.sum && x.count == y.count;
                    });
}

}  // namespace upskill
