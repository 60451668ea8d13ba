// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "util/rng.h"

namespace upskill {

// Hashes of what a request begins with, as servers keep it in a cache, the longest first: of its system prompt and
// first message, and of its system prompt.
using Prefixes = std::vector<std::uint64_t>;

// How many concurrent requests each of an endpoint's servers ("members") may have, and which member gets the next one:
// one that has had a request with the same prefix, unless it is clearly busier than others, else the least busy.
// Has no clock: it says how long a member must be left alone, and is told when that time is over. Not thread-safe.
class Pool {
 public:
  Pool(std::size_t members, int max_in_flight, std::chrono::milliseconds backoff_unit, std::uint64_t seed);

  // The member for a request that couldn't reach the members in `tried`; nothing: the request has to wait.
  std::optional<std::size_t> Choose(const std::set<std::size_t>& tried, const Prefixes& prefixes = {}) const;
  // What sending a request with these prefixes to the member makes of caches, the best first. A beginning that only
  // another member has is left for that one as long as there are other requests.
  enum class Fit { kKnown, kBegun, kNew, kElsewhere };
  Fit FitOf(std::size_t member, const Prefixes& prefixes) const;

  // Whether a member outside `tried` is worth waiting for.
  bool HasOther(const std::set<std::size_t>& tried) const;
  bool full() const { return in_flight_ >= max_in_flight_; }
  int concurrency() const;

  // A request is sent to the member; its outcome is reported with the window returned here.
  std::uint64_t Sent(std::size_t member, const Prefixes& prefixes = {});
  // Exactly one of these for each Sent. Limited and Failed return how long the member must be left alone.
  void Succeeded(std::size_t member);
  void Cancelled(std::size_t member);
  std::chrono::milliseconds Limited(std::size_t member, std::uint64_t window,
                                    std::optional<std::chrono::milliseconds> requested);
  std::optional<std::chrono::milliseconds> Failed(std::size_t member);

  void EndPause(std::size_t member);    // the time returned by one Limited is over
  void EndAbsence(std::size_t member);  // the time returned by one Failed is over

 private:
  struct Member {
    double limit = 1.0;
    int in_flight = 0;
    int pauses = 0;            // that haven't ended
    bool absent = false;       // left out while others are available
    int limited_in_row = 0;    // windows since the last success
    int failed_in_row = 0;     // since the last success
    std::uint64_t window = 0;  // requests sent between two cuts of the limit count as one sign of overload
    std::map<std::uint64_t, std::uint64_t> warm;  // prefixes of its last requests, and when they were sent
  };

  bool IsOpen(std::size_t member, const std::set<std::size_t>& tried, bool absent_too) const;
  void Remember(Member& member, const Prefixes& prefixes);
  void End(Member& member);
  int LimitOf(const Member& member) const;
  std::chrono::milliseconds Backoff(int doublings);

  std::vector<Member> members_;
  int max_in_flight_;
  int in_flight_ = 0;
  std::uint64_t sent_ = 0;
  std::chrono::milliseconds backoff_unit_;
  Rng rng_;
};

}  // namespace upskill
