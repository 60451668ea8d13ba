// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/element_type.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace upskill {
namespace {

template <typename T>
void AppendRaw(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename T>
void AppendWhole(double value, std::string& bytes) {
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  T whole = 0;
  if (value >= high) {
    whole = std::numeric_limits<T>::max();
  } else if (value <= low) {
    whole = std::numeric_limits<T>::min();
  } else if (value == value) {
    whole = static_cast<T>(std::nearbyint(value));
  }
  AppendRaw(whole, bytes);
}

template <typename T>
T RawAt(std::string_view bytes, std::size_t index) {
  T value{};
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// IEEE 754's numbers of `exponent` and `fraction` bits, rounded to nearest, ties to even.
std::uint16_t EncodeSmall(double value, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto all_ones = static_cast<std::uint32_t>((1 << exponent_bits) - 1);
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7FFFU);
  const double size = std::fabs(value);
  int exponent = 0;
  std::frexp(size, &exponent);                                        // size = m · 2^exponent, m in [0.5, 1)
  const int unit = std::max(exponent - 1, 1 - bias) - fraction_bits;  // the last place's
  const double steps = std::nearbyint(std::ldexp(size, -unit));
  const double largest = std::ldexp(static_cast<double>((2 << fraction_bits) - 1), bias - fraction_bits);
  if (std::ldexp(steps, unit) > largest)
    return static_cast<std::uint16_t>(sign | (all_ones << static_cast<unsigned>(fraction_bits)));
  const auto whole = static_cast<std::uint32_t>(steps);
  const std::uint32_t hidden = 1U << static_cast<unsigned>(fraction_bits);
  if (whole < hidden) return static_cast<std::uint16_t>(sign | whole);  // subnormal
  // A carry into the next power of two adds to the exponent's field by itself.
  const auto field = static_cast<std::uint32_t>(unit + fraction_bits + bias);
  return static_cast<std::uint16_t>(sign | ((field << static_cast<unsigned>(fraction_bits)) + (whole - hidden)));
}

double DecodeSmall(std::uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = (bits & 0x7FFF) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double value = 0.0;
  if (field == (1 << exponent_bits) - 1) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(fraction + (1 << fraction_bits), field - bias - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

}  // namespace

const ElementTypeInfo* FindElementType(std::string_view name) {
  for (const ElementTypeInfo& info : kElementTypes) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const ElementTypeInfo& InfoOf(ElementType type) { return kElementTypes[static_cast<std::size_t>(type)]; }

void AppendElement(ElementType type, double value, std::string& bytes) {
  switch (type) {
    case ElementType::kF64:
      return AppendRaw(value, bytes);
    case ElementType::kF32:
      return AppendRaw(static_cast<float>(value), bytes);
    case ElementType::kF16:
      return AppendRaw(EncodeSmall(value, 5, 10), bytes);
    case ElementType::kBf16:
      return AppendRaw(EncodeSmall(value, 8, 7), bytes);
    case ElementType::kI8:
      return AppendWhole<std::int8_t>(value, bytes);
    case ElementType::kU8:
      return AppendWhole<std::uint8_t>(value, bytes);
    case ElementType::kI16:
      return AppendWhole<std::int16_t>(value, bytes);
    case ElementType::kI32:
      return AppendWhole<std::int32_t>(value, bytes);
    case ElementType::kU32:
      return AppendWhole<std::uint32_t>(value, bytes);
    case ElementType::kI64:
      return AppendWhole<std::int64_t>(value, bytes);
    case ElementType::kU64:
      return AppendWhole<std::uint64_t>(value, bytes);
  }
}

double ElementAt(ElementType type, std::string_view bytes, std::size_t index) {
  switch (type) {
    case ElementType::kF64:
      return RawAt<double>(bytes, index);
    case ElementType::kF32:
      return static_cast<double>(RawAt<float>(bytes, index));
    case ElementType::kF16:
      return DecodeSmall(RawAt<std::uint16_t>(bytes, index), 5, 10);
    case ElementType::kBf16:
      return DecodeSmall(RawAt<std::uint16_t>(bytes, index), 8, 7);
    case ElementType::kI8:
      return RawAt<std::int8_t>(bytes, index);
    case ElementType::kU8:
      return RawAt<std::uint8_t>(bytes, index);
    case ElementType::kI16:
      return RawAt<std::int16_t>(bytes, index);
    case ElementType::kI32:
      return RawAt<std::int32_t>(bytes, index);
    case ElementType::kU32:
      return RawAt<std::uint32_t>(bytes, index);
    case ElementType::kI64:
      return static_cast<double>(RawAt<std::int64_t>(bytes, index));
    case ElementType::kU64:
      return static_cast<double>(RawAt<std::uint64_t>(bytes, index));
  }
  return 0.0;
}

}  // namespace upskill
