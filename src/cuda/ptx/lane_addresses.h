// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace upskill::ptx {

// The addresses of a warp's lanes, as offsets from the least of them. A lane outside the mask has that of an active
// one.
struct LaneAddresses {
  std::uint64_t first = 0;
  std::uint32_t span = 0;  // from the first to the last
  std::uint32_t bits = 0;  // of all offsets and the first, or'ed: for alignment
  bool near = false;       // all within 2 GiB; otherwise the rest says nothing
  bool same = false;
  std::uint32_t step = 0;  // from each lane to the next, if all are active and it is the same for all; otherwise 0
  std::array<std::uint32_t, 32> offsets;  // NOLINT(cppcoreguidelines-pro-type-member-init): set if `near`
};

// Sets the addresses base + offset, of which the low `kept_bits` count. `mask` isn't 0, and `lanes` is newly made: it
// is a parameter because a returned result would be copied.
void AddressesOfLanes(const std::uint32_t* base, std::uint32_t offset, std::uint32_t mask, LaneAddresses& lanes);
void AddressesOfLanes(const std::uint64_t* base, std::uint64_t offset, std::uint64_t kept_bits, std::uint32_t mask,
                      LaneAddresses& lanes);

// Compiled for several kinds of processors, as alu.h has it.
namespace generic {
void Addresses32(const std::uint32_t* base, std::uint32_t offset, std::uint32_t mask, LaneAddresses& lanes);
void Addresses64(const std::uint64_t* base, std::uint64_t offset, std::uint64_t kept_bits, std::uint32_t mask,
                 LaneAddresses& lanes);
}  // namespace generic
namespace avx2 {
void Addresses32(const std::uint32_t* base, std::uint32_t offset, std::uint32_t mask, LaneAddresses& lanes);
void Addresses64(const std::uint64_t* base, std::uint64_t offset, std::uint64_t kept_bits, std::uint32_t mask,
                 LaneAddresses& lanes);
}  // namespace avx2

bool HasAvx2();  // and FMA: whether this processor has them

}  // namespace upskill::ptx
