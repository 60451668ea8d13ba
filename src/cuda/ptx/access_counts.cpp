// SPDX-License-Identifier: Apache-2.0
// What the accesses of a warp cost: sectors of global memory, and bank conflicts.
#include <algorithm>
#include <bit>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::size_t kBanks = 32;

// Passes beyond those that the words need. Each pass serves one 4-byte word of each of the 32 banks; the same word is
// served to all at once.
std::uint64_t BankConflicts(std::uint32_t mask, const std::array<std::uint64_t, 32>& addresses, std::uint32_t bytes) {
  std::array<std::array<std::uint64_t, 32>, kBanks>
      words;  // NOLINT(cppcoreguidelines-pro-type-member-init): `counts` says
  std::array<std::uint32_t, kBanks> counts{};
  std::uint64_t distinct = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    if (address == last) continue;
    last = address;
    for (std::uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
      auto& bank = words[word % kBanks];
      std::uint32_t& count = counts[word % kBanks];
      const auto end = bank.begin() + count;
      if (count == bank.size() || std::find(bank.begin(), end, word) != end) continue;
      bank[count++] = word;
      ++distinct;
    }
  }
  const std::uint64_t passes = *std::max_element(counts.begin(), counts.end());
  return passes - std::min(passes, (distinct + kBanks - 1) / kBanks);
}

std::uint64_t Sectors(std::uint32_t mask, const std::array<std::uint64_t, 32>& addresses, std::uint32_t bytes) {
  std::array<std::uint64_t, 256> sectors;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first `count` are set
  std::size_t count = 0;
  bool sorted = true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    for (std::uint64_t sector = address / 32; sector <= (address + bytes - 1) / 32 && count < sectors.size();
         ++sector) {
      if (count > 0 && sectors[count - 1] == sector) continue;
      sorted = sorted && (count == 0 || sectors[count - 1] < sector);
      sectors[count++] = sector;
    }
  }
  if (sorted) return count;
  const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(sectors.begin(), end);
  return static_cast<std::uint64_t>(std::unique(sectors.begin(), end) - sectors.begin());
}

}  // namespace

void Machine::CountAccess(std::uint32_t mask, const std::array<std::uint64_t, 32>& addresses, std::uint32_t bytes,
                          Space space, bool writes) {
  Counters& counters = outcome_.counters;
  if (space == Space::kLocal) {
    ++counters.local_requests;
    return;
  }
  if (space == Space::kShared) {
    ++counters.shared_requests;
    counters.shared_bank_conflicts += BankConflicts(mask, addresses, bytes);
    return;
  }
  (writes ? counters.global_store_requests : counters.global_load_requests) += 1;
  (writes ? counters.global_store_sectors : counters.global_load_sectors) += Sectors(mask, addresses, bytes);
  (writes ? counters.global_store_bytes : counters.global_load_bytes) +=
      static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
}

}  // namespace upskill::ptx
