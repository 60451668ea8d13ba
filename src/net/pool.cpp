// SPDX-License-Identifier: Apache-2.0
#include "net/pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "util/invariant.h"

namespace upskill {

using std::chrono::milliseconds;

Pool::Pool(std::size_t members, int max_in_flight, milliseconds backoff_unit, std::uint64_t seed)
    : members_(members), max_in_flight_(std::max(1, max_in_flight)), backoff_unit_(backoff_unit), rng_(seed) {
  CHECK(members > 0);
  const double share = std::ceil(static_cast<double>(max_in_flight_) / static_cast<double>(members));
  for (Member& member : members_) member.limit = share;
}

int Pool::LimitOf(const Member& member) const {
  // A member that failed is tried with one request before it gets its share again; a single server has no replacement.
  if (member.failed_in_row > 0 && members_.size() > 1) return 1;
  return static_cast<int>(member.limit);
}

bool Pool::IsOpen(std::size_t member, const std::set<std::size_t>& tried, bool absent_too) const {
  const Member& one = members_[member];
  return one.pauses == 0 && one.in_flight < LimitOf(one) && !tried.contains(member) && (!one.absent || absent_too);
}

std::optional<std::size_t> Pool::Choose(const std::set<std::size_t>& tried, const Prefixes& prefixes) const {
  if (full()) return std::nullopt;
  const bool absent_too = !HasOther(tried);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (IsOpen(i, tried, absent_too)) open.push_back(i);
  }
  if (open.empty()) return std::nullopt;
  // Of members that are equally busy, the one with the fewest prefixes: another one's cache is worth more.
  const auto less_busy = [this](std::size_t a, std::size_t b) {
    const auto load = [this](std::size_t i) { return std::pair(members_[i].in_flight, members_[i].warm.size()); };
    return load(a) < load(b);
  };
  const std::size_t idlest = *std::min_element(open.begin(), open.end(), less_busy);
  for (const std::uint64_t prefix : prefixes) {
    std::optional<std::size_t> best;
    for (const std::size_t i : open) {
      const Member& member = members_[i];
      const int tolerated = members_[idlest].in_flight + std::max(1, static_cast<int>(member.limit) / 4);
      if (!member.warm.contains(prefix) || member.in_flight > tolerated) continue;
      if (!best || member.in_flight < members_[*best].in_flight) best = i;
    }
    if (best) return best;
  }
  return idlest;
}

Pool::Fit Pool::FitOf(std::size_t member, const Prefixes& prefixes) const {
  const Member& one = members_[member];
  if (prefixes.empty()) return Fit::kNew;
  if (one.warm.contains(prefixes.front())) return Fit::kKnown;
  const bool elsewhere = std::any_of(members_.begin(), members_.end(), [&](const Member& other) {
    return !other.absent && other.warm.contains(prefixes.front());
  });
  if (elsewhere) return Fit::kElsewhere;
  const bool begun =
      std::any_of(prefixes.begin(), prefixes.end(), [&](std::uint64_t prefix) { return one.warm.contains(prefix); });
  return begun ? Fit::kBegun : Fit::kNew;
}

bool Pool::HasOther(const std::set<std::size_t>& tried) const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].absent && !tried.contains(i)) return true;
  }
  return false;
}

int Pool::concurrency() const {
  int sum = 0;
  for (const Member& member : members_) sum += LimitOf(member);
  return std::min(sum, max_in_flight_);
}

void Pool::Remember(Member& member, const Prefixes& prefixes) {
  constexpr std::size_t kRemembered = 512;
  if (members_.size() == 1) return;
  for (const std::uint64_t prefix : prefixes) {
    member.warm[prefix] = sent_;
    if (member.warm.size() <= kRemembered) continue;
    member.warm.erase(std::min_element(member.warm.begin(), member.warm.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; }));
  }
}

std::uint64_t Pool::Sent(std::size_t member, const Prefixes& prefixes) {
  Member& target = members_[member];
  ++sent_;
  Remember(target, prefixes);
  ++target.in_flight;
  ++in_flight_;
  return target.window;
}

void Pool::End(Member& member) {
  CHECK(member.in_flight > 0);
  --member.in_flight;
  --in_flight_;
}

void Pool::Succeeded(std::size_t member) {
  Member& target = members_[member];
  const bool was_full = target.in_flight >= LimitOf(target);
  End(target);
  target.limited_in_row = 0;
  target.failed_in_row = 0;
  if (was_full) target.limit = std::min(target.limit + 1.0 / target.limit, static_cast<double>(max_in_flight_));
}

void Pool::Cancelled(std::size_t member) { End(members_[member]); }

milliseconds Pool::Backoff(int doublings) {
  constexpr int kMaxDoublings = 4;
  const double full = static_cast<double>(backoff_unit_.count()) * std::exp2(std::clamp(doublings, 0, kMaxDoublings));
  return milliseconds(std::llround(full * (1.0 - 0.25 * rng_.Uniform())));
}

milliseconds Pool::Limited(std::size_t member, std::uint64_t window, std::optional<milliseconds> requested) {
  Member& target = members_[member];
  End(target);
  if (window == target.window) {
    ++target.window;
    ++target.limited_in_row;
    target.limit = std::max(1.0, target.limit / 2.0);
  }
  ++target.pauses;
  const milliseconds own = Backoff(target.limited_in_row - 1);
  if (!requested) return own;
  // Don't trust a server that keeps asking for less time than it needs.
  return target.limited_in_row > 1 ? std::max(*requested, own) : *requested;
}

std::optional<milliseconds> Pool::Failed(std::size_t member) {
  Member& target = members_[member];
  End(target);
  target.warm.clear();  // it may have been restarted
  if (members_.size() == 1 || target.absent) return std::nullopt;
  target.absent = true;
  constexpr int kLongestInUnits = 60;
  return backoff_unit_ * std::min(kLongestInUnits, 1 << std::min(6, ++target.failed_in_row));
}

void Pool::EndPause(std::size_t member) {
  CHECK(members_[member].pauses > 0);
  --members_[member].pauses;
}

void Pool::EndAbsence(std::size_t member) { members_[member].absent = false; }

}  // namespace upskill
