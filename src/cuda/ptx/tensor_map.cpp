// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/tensor_map.h"

#include <algorithm>
#include <cstring>

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kMagic = 0x50414D534E455455ULL;  // "UTENSMAP", little endian
constexpr std::uint64_t kMostBoxBytes = 256U << 10U;
constexpr std::array<std::uint8_t, 13> kElementBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr std::array<std::uint8_t, 4> kSwizzles = {0, 32, 64, 128};

template <typename T>
T FieldAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint32_t CountIn(const TensorMap& map, std::uint32_t dimension) {
  const std::uint32_t step = dimension == 0 ? 1 : map.steps[dimension];
  return (map.box[dimension] + step - 1) / step;
}

}  // namespace

std::uint32_t TensorMap::BoxBytes() const {
  std::uint64_t bytes = element_bytes;
  for (std::uint32_t i = 0; i < rank && bytes <= kMostBoxBytes; ++i) bytes *= CountIn(*this, i);
  return static_cast<std::uint32_t>(std::min(bytes, kMostBoxBytes + 1));
}

// Units of 16 bytes change their places by the number of their row of 128 bytes.
std::uint64_t TensorMap::Swizzled(std::uint64_t address_in_shared) const {
  if (swizzle == 0) return address_in_shared;
  return address_in_shared ^ (((address_in_shared >> 7U) & (swizzle / 16 - 1)) << 4U);
}

std::optional<TensorMap> ReadTensorMap(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kTensorMapBytes || FieldAt<std::uint64_t>(bytes, 0) != kMagic) return std::nullopt;
  TensorMap map;
  map.address = FieldAt<std::uint64_t>(bytes, 8);
  map.rank = bytes[36];
  const std::uint8_t type = bytes[37];
  const std::uint8_t swizzle = bytes[38];
  if (map.rank < 1 || map.rank > 5 || type >= kElementBytes.size() || swizzle >= kSwizzles.size()) return std::nullopt;
  map.element_bytes = kElementBytes[type];
  map.swizzle = kSwizzles[swizzle];
  map.strides[0] = map.element_bytes;
  for (std::size_t i = 0; i < map.rank; ++i) {
    map.sizes[i] = std::uint64_t{FieldAt<std::uint32_t>(bytes, 16 + 4 * i)} + 1;
    if (i > 0) map.strides[i] = FieldAt<std::uint64_t>(bytes, 40 + 8 * (i - 1));
    map.box[i] = FieldAt<std::uint16_t>(bytes, 72 + 2 * i);
    map.steps[i] = bytes[82 + i];
    if (map.box[i] == 0 || map.steps[i] == 0) return std::nullopt;
  }
  if (map.BoxBytes() > kMostBoxBytes) return std::nullopt;
  return map;
}

std::vector<TensorPart> PartsOfBox(const TensorMap& map, const std::array<std::int32_t, 5>& coordinates) {
  std::uint32_t rows = 1;
  for (std::uint32_t i = 1; i < map.rank; ++i) rows *= CountIn(map, i);
  const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{coordinates[0]});
  const std::int64_t last =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.sizes[0]) - coordinates[0]);
  std::vector<TensorPart> parts;
  for (std::uint32_t row = 0; row < rows && first < last; ++row) {
    std::uint64_t address = map.address;
    std::uint32_t rest = row;
    bool inside = true;
    for (std::uint32_t i = 1; i < map.rank; ++i) {
      const std::int64_t at = std::int64_t{coordinates[i]} + std::int64_t{rest % CountIn(map, i)} * map.steps[i];
      rest /= CountIn(map, i);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.sizes[i]);
      address += static_cast<std::uint64_t>(at) * map.strides[i];
    }
    if (!inside) continue;
    TensorPart part;
    part.address = address + static_cast<std::uint64_t>(coordinates[0] + first) * map.element_bytes;
    part.in_box = (row * map.box[0] + static_cast<std::uint32_t>(first)) * map.element_bytes;
    part.bytes = static_cast<std::uint32_t>(last - first) * map.element_bytes;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace upskill::ptx
