// SPDX-License-Identifier: Apache-2.0
#include "stats/spending.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace upskill {
namespace {

constexpr int kMostRunToTheEnd = 10;
constexpr double kPowerToTheEnd = 1.5;
constexpr double kPowerOfLong = 0.8;

}  // namespace

SpendingSchedule::SpendingSchedule(int planned_rounds, bool one_may_be_all)
    : planned_(std::max(planned_rounds, 1)), one_may_be_all_(one_may_be_all) {}

double SpendingSchedule::reserve() const {
  return one_may_be_all_ ? kReserve : std::max(kReserve, kReserveOfOne * std::pow(planned_, -0.7));
}

double SpendingSchedule::Until(int round) const {
  if (round < 1) return 0.0;
  const auto now = static_cast<double>(round);
  const auto planned = static_cast<double>(planned_);
  const double kept = reserve();
  if (round <= planned_) {
    double part = std::pow(now / planned, planned_ <= kMostRunToTheEnd ? kPowerToTheEnd : kPowerOfLong);
    if (one_may_be_all_ && planned_ > 1) part = 0.5 + 0.5 * (now - 1.0) / (planned - 1.0);
    return (1.0 - kept) * part;
  }
  // Stage k = 1, 2, … ends at 2^k times the planned rounds and spends 2^-k of the reserve evenly.
  const double stages = now / planned;
  double begin = 1.0;  // of the stage, in planned rounds
  double left = 1.0;   // of the reserve, before the stage
  while (2.0 * begin < stages) {
    begin *= 2.0;
    left *= 0.5;
  }
  const double part = 0.5 * left * (stages - begin) / begin;
  return (1.0 - kept) + kept * (1.0 - left + part);
}

std::vector<ScheduledLook> ScheduledLooks(int planned_rounds, int rounds) {
  constexpr double kPlannedShare = 1.0 - SpendingSchedule::kReserve;
  const int last = std::max(planned_rounds, 1);
  const int middle = (last + 1) / 2;
  std::vector<ScheduledLook> looks;
  if (middle > 1) looks.push_back({1, 0.2 * kPlannedShare});
  if (middle < last) looks.push_back({middle, 0.3 * kPlannedShare});
  double share = kPlannedShare;
  for (const ScheduledLook& look : looks) share -= look.share;
  looks.push_back({last, share});
  double left = SpendingSchedule::kReserve;
  for (std::int64_t round = 2 * static_cast<std::int64_t>(last); round <= rounds; round *= 2) {
    left *= 0.5;
    looks.push_back({static_cast<int>(round), left});
  }
  const auto later = [&](const ScheduledLook& look) { return look.round > rounds; };
  looks.erase(std::remove_if(looks.begin(), looks.end(), later), looks.end());
  return looks;
}

}  // namespace upskill
