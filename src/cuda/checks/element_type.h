// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace upskill {

// The types that the elements of a kernel's buffers have.
enum class ElementType { kF64, kF32, kF16, kBf16, kI8, kU8, kI16, kI32, kU32, kI64, kU64 };

struct ElementTypeInfo {
  ElementType type;
  std::string_view name;  // as in suites: never rename
  std::size_t bytes;
  bool is_real;
  // A result may differ from the reference by this part of its size: a few roundings of the type, or exactly none.
  double tolerance;
  // In the reference's code. Half precision is single there.
  std::string_view reference_type;
};

inline constexpr std::array<ElementTypeInfo, 11> kElementTypes = {{
    {ElementType::kF64, "f64", 8, true, 1e-10, "double"},
    {ElementType::kF32, "f32", 4, true, 1e-4, "float"},
    {ElementType::kF16, "f16", 2, true, 2e-3, "float"},
    {ElementType::kBf16, "bf16", 2, true, 1.6e-2, "float"},
    {ElementType::kI8, "i8", 1, false, 0.0, "int8_t"},
    {ElementType::kU8, "u8", 1, false, 0.0, "uint8_t"},
    {ElementType::kI16, "i16", 2, false, 0.0, "int16_t"},
    {ElementType::kI32, "i32", 4, false, 0.0, "int32_t"},
    {ElementType::kU32, "u32", 4, false, 0.0, "uint32_t"},
    {ElementType::kI64, "i64", 8, false, 0.0, "int64_t"},
    {ElementType::kU64, "u64", 8, false, 0.0, "uint64_t"},
}};

// nullptr for an unknown name.
const ElementTypeInfo* FindElementType(std::string_view name);
const ElementTypeInfo& InfoOf(ElementType type);

// Appends an element, rounded to the nearest of the type, to its bytes in memory.
void AppendElement(ElementType type, double value, std::string& bytes);
// The element at this position.
double ElementAt(ElementType type, std::string_view bytes, std::size_t index);

}  // namespace upskill
