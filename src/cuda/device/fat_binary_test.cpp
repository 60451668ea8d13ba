// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/fat_binary.h"

#include <gmock/gmock.h>

#include "cuda/device/fat_binary_test.h"

namespace upskill {
namespace {

using testing::HasSubstr;

constexpr const char* kPtx = "\n\n.version 9.0\n.target sm_90\n.address_size 64\n";

TEST(FatBinary, TheNewestPtxIsTakenAndMachineCodePassedOver) {
  const std::string bytes =
      FatBinaryOf(FatBinaryEntry(2, 100,
                                 "\x7f"
                                 "ELF…") +
                  FatBinaryEntry(1, 80, kPtx) + FatBinaryEntry(1, 90, std::string(kPtx) + "// newest"));
  const auto images = PtxInFatBinary(bytes);
  ASSERT_TRUE(images.ok()) << images.error().message;
  ASSERT_EQ(images->size(), 2U);
  EXPECT_EQ((*images)[0].architecture, 80U);
  EXPECT_EQ((*images)[0].text, std::string_view(kPtx).substr(2));
  EXPECT_THAT(std::string(*NewestPtx(bytes)), HasSubstr("// newest"));
}

TEST(FatBinary, WhatCantBeReadIsAnError) {
  const std::string good = FatBinaryOf(FatBinaryEntry(1, 90, kPtx));
  EXPECT_THAT(NewestPtx("").error().message, HasSubstr("isn't in a fat binary"));
  EXPECT_THAT(NewestPtx(FatBinaryOf("")).error().message, HasSubstr("has no PTX"));
  EXPECT_THAT(NewestPtx(FatBinaryOf(FatBinaryEntry(2, 90, "code"))).error().message, HasSubstr("has no PTX"));
  EXPECT_THAT(NewestPtx(good.substr(0, good.size() - 1)).error().message, HasSubstr("another size"));
  EXPECT_THAT(NewestPtx(FatBinaryOf(FatBinaryEntry(1, 90, kPtx, 0x2011))).error().message, HasSubstr("--no-compress"));
  EXPECT_THAT(NewestPtx(FatBinaryOf(FatBinaryEntry(1, 90, "\x28\xb5\x2f\xfd"))).error().message,
              HasSubstr("compressed"));
  // An entry that is larger than the rest.
  std::string damaged = good;
  damaged[16 + 8 + 3] = '\x7f';
  EXPECT_THAT(NewestPtx(damaged).error().message, HasSubstr("entry 1 isn't inside"));
  damaged = good;
  damaged[16 + 4] = '\x01';
  EXPECT_THAT(NewestPtx(damaged).error().message, HasSubstr("entry 1 isn't inside"));
}

TEST(FatBinary, EveryCutOfItIsAnErrorOrEmpty) {
  const std::string good = FatBinaryOf(FatBinaryEntry(1, 90, kPtx) + FatBinaryEntry(2, 90, "code"));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(PtxInFatBinary(std::string_view(good).substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace upskill
