// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace upskill {

// Finds numbers by a hash. The meaning of a number (for example, the index of an element whose id is looked up) is up
// to the caller. Takes 11 to 21 bytes per number, a fifth of std::unordered_map, because a session has hundreds of
// thousands of records. Can't store the largest std::size_t. Not thread-safe.
class HashIndex {
 public:
  // The number with this hash for which `same(number)` holds, to read or replace; null if there is none.
  template <typename Same>
  std::size_t* Find(std::uint64_t hash, Same same) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = Home(hash);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kFree) return nullptr;
      if (same(slots_[at])) return &slots_[at];
    }
  }

  // Adds a number that isn't in the index yet. `hash_of(number)` gives the hash of any number in it.
  template <typename HashOf>
  void Insert(std::size_t number, HashOf hash_of) {
    if ((count_ + 1) * 4 > slots_.size() * 3) {
      const std::vector<std::size_t> old =
          std::exchange(slots_, std::vector<std::size_t>(slots_.empty() ? 64 : slots_.size() * 2, kFree));
      for (const std::size_t known : old) {
        if (known != kFree) Put(known, hash_of(known));
      }
    }
    Put(number, hash_of(number));
    ++count_;
  }

 private:
  static constexpr std::size_t kFree = std::numeric_limits<std::size_t>::max();

  // Fibonacci hashing spreads hashes whose low bits are alike.
  std::size_t Home(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15ULL) >> 32U) & (slots_.size() - 1);
  }

  void Put(std::size_t number, std::uint64_t hash) {
    std::size_t at = Home(hash);
    while (slots_[at] != kFree) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = number;
  }

  std::vector<std::size_t> slots_;  // the size is a power of two; at most three quarters are in use
  std::size_t count_ = 0;
};

}  // namespace upskill
