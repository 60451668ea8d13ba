// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/element_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace upskill {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

unsigned BitsOf(ElementType type, double value) {
  std::string bytes;
  AppendElement(type, value, bytes);
  unsigned bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

double Rounded(ElementType type, double value) {
  std::string bytes;
  AppendElement(type, value, bytes);
  return ElementAt(type, bytes, 0);
}

// Published encodings of binary16 and bfloat16.
TEST(ElementType, HalfPrecisionIsEncodedAndRoundedAsIeee754Says) {
  EXPECT_EQ(BitsOf(ElementType::kF16, 1.0), 0x3C00U);
  EXPECT_EQ(BitsOf(ElementType::kF16, -2.0), 0xC000U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 65504.0), 0x7BFFU);
  EXPECT_EQ(BitsOf(ElementType::kF16, 65519.0), 0x7BFFU);
  EXPECT_EQ(BitsOf(ElementType::kF16, 65520.0), 0x7C00U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 0x1p-14), 0x0400U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 0x1p-24), 0x0001U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 0x1p-25), 0x0000U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 0x1.8p-25), 0x0001U);
  EXPECT_EQ(BitsOf(ElementType::kF16, -0.0), 0x8000U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 1.0 + 0x1p-11), 0x3C00U) << "a tie goes to the even one";
  EXPECT_EQ(BitsOf(ElementType::kF16, 1.0 + 3 * 0x1p-11), 0x3C02U);
  EXPECT_EQ(BitsOf(ElementType::kF16, 1.9999), 0x4000U) << "a carry into the exponent";
  EXPECT_EQ(BitsOf(ElementType::kF16, -kInfinite), 0xFC00U);
  EXPECT_EQ(BitsOf(ElementType::kBf16, 1.0), 0x3F80U);
  EXPECT_EQ(BitsOf(ElementType::kBf16, 3.140625), 0x4049U);
  EXPECT_EQ(BitsOf(ElementType::kBf16, 1e39), 0x7F80U);
  EXPECT_TRUE(std::isnan(Rounded(ElementType::kF16, std::nan(""))));
  EXPECT_TRUE(std::isnan(Rounded(ElementType::kBf16, std::nan(""))));
}

TEST(ElementType, EveryHalfIsReadAndWrittenTheSame) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBf16}) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const std::string bytes = {static_cast<char>(bits & 0xFF), static_cast<char>(bits >> 8U)};
      const double value = ElementAt(type, bytes, 0);
      if (std::isnan(value)) continue;
      ASSERT_EQ(BitsOf(type, value), bits) << InfoOf(type).name;
    }
  }
}

TEST(ElementType, WholeNumbersStayInTheirRange) {
  EXPECT_EQ(Rounded(ElementType::kI8, 127.0), 127.0);
  EXPECT_EQ(Rounded(ElementType::kI8, 1000.0), 127.0);
  EXPECT_EQ(Rounded(ElementType::kU8, -5.0), 0.0);
  EXPECT_EQ(Rounded(ElementType::kI32, -2147483648.0), -2147483648.0);
  EXPECT_EQ(Rounded(ElementType::kU64, 1e30), 18446744073709551615.0);
  EXPECT_EQ(Rounded(ElementType::kI64, std::nan("")), 0.0);
  EXPECT_EQ(Rounded(ElementType::kF32, 0.1), static_cast<double>(0.1F));
}

TEST(ElementType, TheTableIsInTheOrderOfTheTypes) {
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kElementTypes[i].type), i);
    EXPECT_EQ(FindElementType(kElementTypes[i].name), &kElementTypes[i]);
  }
  EXPECT_EQ(FindElementType("f8"), nullptr);
}

}  // namespace
}  // namespace upskill
