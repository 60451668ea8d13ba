// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace upskill::ptx {

constexpr std::size_t kTensorMapBytes = 128;

// What cuTensorMapEncodeTiled of assets/cuda_runtime/tensor_map.cpp says of a tensor in global memory, and of the boxes
// of it that are copied. Dimension 0 is the innermost one.
struct TensorMap {
  std::uint64_t address = 0;
  std::uint32_t rank = 0;
  std::uint32_t element_bytes = 0;
  std::array<std::uint64_t, 5> sizes{};
  std::array<std::uint64_t, 5> strides{};  // in bytes
  std::array<std::uint32_t, 5> box{};      // elements of each dimension, before the steps
  std::array<std::uint32_t, 5> steps{};
  std::uint32_t swizzle = 0;  // bytes of a swizzled row: 0, 32, 64 or 128

  std::uint32_t BoxBytes() const;
  // Where a byte of the box is, relative to an address that is a multiple of 1,024.
  std::uint64_t Swizzled(std::uint64_t address_in_shared) const;
};

// The elements of a box that lie next to each other in the tensor.
struct TensorPart {
  std::uint64_t address = 0;
  std::uint32_t in_box = 0;  // in bytes
  std::uint32_t bytes = 0;
};

// Nothing if the bytes aren't such a map, or one of more than a block's shared memory.
std::optional<TensorMap> ReadTensorMap(std::span<const std::uint8_t> bytes);

// The parts of the box at the coordinates that lie inside of the tensor.
std::vector<TensorPart> PartsOfBox(const TensorMap& map, const std::array<std::int32_t, 5>& coordinates);

}  // namespace upskill::ptx
