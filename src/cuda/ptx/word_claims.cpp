// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/word_claims.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kGroupWords = 8;
constexpr std::uint64_t kGroupBytes = kWordBytes * kGroupWords;
constexpr std::size_t kChunk = 32'768;  // numbers that are kept together

std::uint64_t GroupsOf(const Allocation& allocation) {
  return (allocation.data.size() + kGroupBytes - 1) / kGroupBytes;
}

// The word's bytes in the lower half, their writers in the upper one. The last word of an allocation may be shorter.
std::uint64_t ContentAt(const Allocation& allocation, std::uint64_t at) {
  const std::size_t bytes = std::min<std::uint64_t>(kWordBytes, allocation.data.size() - at);
  std::uint32_t data = 0;
  std::uint32_t writers = 0;
  if (bytes == kWordBytes) {  // a number that the compiler knows
    std::memcpy(&data, allocation.data.data() + at, kWordBytes);
    std::memcpy(&writers, allocation.writer.data() + at, kWordBytes);
  } else {
    std::memcpy(&data, allocation.data.data() + at, bytes);
    std::memcpy(&writers, allocation.writer.data() + at, bytes);
  }
  return (std::uint64_t{writers} << 32U) | data;
}

void SetContentAt(Allocation& allocation, std::uint64_t at, std::uint64_t content) {
  const std::size_t bytes = std::min<std::uint64_t>(kWordBytes, allocation.data.size() - at);
  const auto data = static_cast<std::uint32_t>(content);
  const auto writers = static_cast<std::uint32_t>(content >> 32U);
  std::memcpy(allocation.data.data() + at, &data, bytes);
  std::memcpy(allocation.writer.data() + at, &writers, bytes);
}

}  // namespace

std::unique_ptr<WordClaims> WordClaims::Make(DeviceMemory& memory, MemoryPool& pool) {
  auto claims = std::make_unique<WordClaims>();
  std::uint64_t groups = 0;
  for (const Allocation* each : memory.Allocations()) {
    claims->ranges_.push_back({memory.Find(each->address), groups});
    if (claims->ranges_.back().allocation == nullptr) claims->ranges_.pop_back();  // of no bytes
    groups += GroupsOf(*each);
  }
  if (!pool.Take(groups * sizeof(std::uint64_t))) return nullptr;
  // From the system as zeros: what nobody claims costs nothing.
  claims->groups_.reset(static_cast<std::uint64_t*>(std::calloc(groups + 1, sizeof(std::uint64_t))));
  return claims->groups_ ? std::move(claims) : nullptr;
}

const WordClaims::Range* WordClaims::RangeOf(std::uint64_t address) const {
  const auto found =
      std::lower_bound(ranges_.begin(), ranges_.end(), address,
                       [](const Range& range, std::uint64_t at) { return range.allocation->address < at; });
  return found == ranges_.end() || found->allocation->address != address ? nullptr : &*found;
}

const WordClaims::Range& WordClaims::RangeOfGroup(std::uint64_t group) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), group,
                                      [](std::uint64_t at, const Range& range) { return at < range.first_group; });
  return *std::prev(after);
}

WordClaimer::WordClaimer(WordClaims& claims, std::uint32_t number, MemoryPool& pool)
    : claims_(claims),
      pool_(pool),
      number_(number),
      own_reads_(kEveryByte * number),
      own_writes_(kEveryByte * (kWritten | number)) {}

bool WordClaimer::Find(const Allocation& allocation) {
  const WordClaims::Range* const range = claims_.RangeOf(allocation.address);
  if (range == nullptr) return false;
  allocation_ = &allocation;
  first_group_ = range->first_group;
  groups_ = claims_.groups_.get() + first_group_;
  return true;
}

// The order of the claims of one group is all that is needed: they are atomic, and whoever has claimed a word for
// writing keeps it. So there is nothing for other memory to be ordered by.
bool WordClaimer::ClaimGroup(std::uint64_t group, std::uint64_t mask, std::uint64_t seen, bool writes) {
  const std::atomic_ref place(groups_[group]);
  for (;;) {
    std::uint64_t wanted = seen;
    std::uint32_t written = 0;
    const bool free = (seen & mask) == 0;  // nearly always
    if (free) {
      wanted |= mask & (writes ? own_writes_ : own_reads_);
      // One bit of each byte, side by side.
      if (writes) written = static_cast<std::uint32_t>(((mask & kEveryByte) * 0x0102040810204080ULL) >> 56U);
    }
    for (std::uint32_t word = 0; word < kGroupWords && !free; ++word) {
      const std::uint32_t shift = 8 * word;
      const std::uint64_t claim = (seen >> shift) & 0xFFU;
      if (((mask >> shift) & 1U) == 0 || claim == (kWritten | number_)) continue;
      std::uint64_t next = 0;
      if (writes) {
        if (claim != 0 && claim != number_) return false;
        next = kWritten | number_;
        written |= 1U << word;
      } else {
        if ((claim & kWritten) != 0) return false;
        next = claim == 0 || claim == number_ ? number_ : kShared;
      }
      wanted = (wanted & ~(std::uint64_t{0xFF} << shift)) | (next << shift);
    }
    if (wanted == seen) return true;
    if (place.compare_exchange_weak(seen, wanted, std::memory_order_relaxed))
      return written == 0 || Keep(group, written);
  }
}

bool WordClaimer::Keep(std::uint64_t group, std::uint32_t words) {
  if (kept_.empty() || kept_.back().size() + 1 + kGroupWords > kChunk) {
    if (!pool_.Take(kChunk * sizeof(std::uint64_t))) return false;
    kept_.emplace_back().reserve(kChunk);
  }
  std::vector<std::uint64_t>& kept = kept_.back();
  kept.push_back(((first_group_ + group) << kGroupWords) | words);
  for (std::uint32_t rest = words; rest != 0; rest &= rest - 1) {
    const auto word = static_cast<std::uint64_t>(std::countr_zero(rest));
    kept.push_back(ContentAt(*allocation_, group * kGroupBytes + word * kWordBytes));
  }
  return true;
}

void WordClaimer::Restore() {
  for (const std::vector<std::uint64_t>& kept : kept_) {
    for (std::size_t i = 0; i < kept.size();) {
      const std::uint64_t group = kept[i] >> kGroupWords;
      const WordClaims::Range& range = claims_.RangeOfGroup(group);
      auto words = static_cast<std::uint32_t>(kept[i++] & 0xFFU);
      for (; words != 0; words &= words - 1) {
        const auto word = static_cast<std::uint64_t>(std::countr_zero(words));
        SetContentAt(*range.allocation, (group - range.first_group) * kGroupBytes + word * kWordBytes, kept[i++]);
      }
    }
  }
  kept_.clear();
}

}  // namespace upskill::ptx
