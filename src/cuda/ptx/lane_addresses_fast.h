// SPDX-License-Identifier: Apache-2.0
// As loops that the compiler turns into vector instructions. Included by one file for each kind of processor, which
// defines UPSKILL_PTX_VARIANT.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/ptx/lane_addresses.h"

namespace upskill::ptx::UPSKILL_PTX_VARIANT {
namespace {  // NOLINT

// From distances to the address of one of the lanes.
inline void FromDistances(const std::int32_t* distances, std::uint64_t some, LaneAddresses& lanes) {
  std::int32_t least = 0;
  std::int32_t most = 0;
  for (int i = 0; i < 32; ++i) {
    least = distances[i] < least ? distances[i] : least;
    most = distances[i] > most ? distances[i] : most;
  }
  lanes.near = true;
  lanes.same = least == most;
  lanes.first = some + static_cast<std::uint64_t>(std::int64_t{least});
  lanes.span = static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    lanes.offsets[i] = static_cast<std::uint32_t>(distances[i]) - static_cast<std::uint32_t>(least);
    bits |= lanes.offsets[i];
  }
  lanes.bits = bits | static_cast<std::uint32_t>(lanes.first);
}

// Whether all lanes are active and each is as far from the one before it, by at most 2 MiB.
template <typename T>
inline bool HasStep(const T* base, std::uint32_t mask) {
  const T step = base[1] - base[0];
  T uneven = step >> 21U;
  // In steps of four, which are vectors.
  for (int i = 0; i < 28; ++i) uneven |= (base[i + 1] - base[i]) ^ step;
  for (int i = 27; i < 31; ++i) uneven |= (base[i + 1] - base[i]) ^ step;
  return uneven == 0 && mask == 0xFFFFFFFFU;
}

inline void FromStep(std::uint64_t first, std::uint32_t step, LaneAddresses& lanes) {
  lanes.near = true;
  lanes.same = step == 0;
  lanes.first = first;
  lanes.span = 31 * step;
  lanes.bits = step | static_cast<std::uint32_t>(first);  // a multiple of the step has no lower bit
  lanes.step = step;
  for (std::uint32_t i = 0; i < 32; ++i) lanes.offsets[i] = i * step;
}

}  // namespace

void Addresses32(const std::uint32_t* base, std::uint32_t offset, std::uint32_t mask, LaneAddresses& lanes) {
  if (HasStep(base, mask)) {
    FromStep(base[0] + offset, base[1] - base[0], lanes);
    lanes.near = lanes.first + lanes.span <= 0xFFFFFFFFU;
    return;
  }
  const std::uint32_t some = base[__builtin_ctz(mask)];
  std::int32_t distances[32];  // NOLINT(modernize-avoid-c-arrays)
  for (int i = 0; i < 32; ++i) {
    const bool active = ((mask >> static_cast<unsigned>(i)) & 1U) != 0;
    distances[i] = active ? static_cast<std::int32_t>(base[i] - some) : 0;
  }
  FromDistances(distances, some + offset, lanes);
  // Addresses have 32 bits, and a range that wraps around isn't one.
  lanes.first &= 0xFFFFFFFFU;
  lanes.near = lanes.span <= 0x7FFFFFFFU && lanes.first + lanes.span <= 0xFFFFFFFFU;
}

void Addresses64(const std::uint64_t* base, std::uint64_t offset, std::uint64_t kept_bits, std::uint32_t mask,
                 LaneAddresses& lanes) {
  if (HasStep(base, mask)) {
    const std::uint64_t first = (base[0] + offset) & kept_bits;
    const auto step = static_cast<std::uint32_t>(base[1] - base[0]);
    if (std::uint64_t{31} * step <= kept_bits - first) return FromStep(first, step, lanes);
  }
  const std::uint64_t some = (base[__builtin_ctz(mask)] + offset) & kept_bits;
  std::int32_t distances[32];  // NOLINT(modernize-avoid-c-arrays)
  std::uint64_t far = 0;
  for (int i = 0; i < 32; ++i) {
    const bool active = ((mask >> static_cast<unsigned>(i)) & 1U) != 0;
    const std::uint64_t distance = active ? ((base[i] + offset) & kept_bits) - some : 0;
    distances[i] = static_cast<std::int32_t>(distance);
    far |= distance + 0x40000000U;  // within a GiB: no bit beyond the lower 31
  }
  if ((far >> 31U) == 0) FromDistances(distances, some, lanes);
}

}  // namespace upskill::ptx::UPSKILL_PTX_VARIANT
