// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/word_claims.h"

#include <gtest/gtest.h>

#include <numeric>

namespace upskill::ptx {
namespace {

class WordClaimsTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kBytes = 103;  // the last word has three bytes

  WordClaimsTest() {
    std::vector<std::uint8_t> bytes(kBytes);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    for (Allocation** each : {&first, &second}) {
      const std::uint64_t address = memory.Allocate(kBytes, "buffer").value();
      EXPECT_TRUE(memory.Write(address, bytes).ok());
      *each = memory.Find(address);
      EXPECT_TRUE(memory.Allocate(0, "nothing").ok());
    }
    claims = WordClaims::Make(memory, pool);
    one = std::make_unique<WordClaimer>(*claims, 1, pool);
    two = std::make_unique<WordClaimer>(*claims, WordClaimer::kMostWorkers, pool);
  }

  DeviceMemory memory;
  MemoryPool pool{10'000'000};
  Allocation* first = nullptr;
  Allocation* second = nullptr;
  std::unique_ptr<WordClaims> claims;
  std::unique_ptr<WordClaimer> one;
  std::unique_ptr<WordClaimer> two;
};

TEST_F(WordClaimsTest, SeveralReadOrOneWrites) {
  EXPECT_TRUE(one->Claim(*first, 0, 40, false));
  EXPECT_TRUE(two->Claim(*first, 36, 40, false));
  EXPECT_TRUE(one->Claim(*first, 0, 4, true));
  EXPECT_TRUE(one->Claim(*first, 2, 30, true));
  EXPECT_FALSE(one->Claim(*first, 36, 1, true)) << "two has read it";
  EXPECT_FALSE(two->Claim(*first, 31, 1, false)) << "one writes it";
  EXPECT_FALSE(two->Claim(*first, 32, 1, true)) << "one has read it";
  EXPECT_TRUE(two->Claim(*first, 40, 4, true));
  EXPECT_TRUE(two->Claim(*first, 40, 63, false));
  EXPECT_TRUE(two->Claim(*first, 102, 1, true));
  EXPECT_FALSE(one->Claim(*first, 100, 1, true)) << "the same word";
  EXPECT_TRUE(one->Claim(*second, 100, 1, true)) << "another allocation";
  EXPECT_TRUE(one->Claim(*first, 0, 40, false));
}

TEST_F(WordClaimsTest, EveryPartOfARangeIsClaimed) {
  for (std::uint64_t at = 0; at < kBytes; ++at) {
    for (std::uint64_t bytes = 1; at + bytes <= kBytes; ++bytes) {
      MemoryPool room(1'000'000);
      const auto fresh = WordClaims::Make(memory, room);
      WordClaimer reader(*fresh, 5, room);
      WordClaimer other(*fresh, 6, room);
      for (std::uint64_t word = 0; word < (kBytes + 3) / 4; word += 3)
        ASSERT_TRUE(other.Claim(*first, word * 4, 1, true));
      // Every third word is another's: a range is free if it has none of them.
      const std::uint64_t from = at / 4;
      const std::uint64_t to = (at + bytes - 1) / 4;
      const bool free = from % 3 != 0 && to / 3 == from / 3;
      ASSERT_EQ(reader.Claim(*first, at, bytes, false), free) << at << " " << bytes;
    }
  }
}

TEST_F(WordClaimsTest, WhatWasWrittenIsRestored) {
  const auto copy = [](const auto& array) { return std::vector(array.begin(), array.end()); };
  const std::vector<std::uint8_t> data = copy(first->data);
  const std::vector<Writer> writers = copy(first->writer);
  ASSERT_TRUE(one->Claim(*second, 0, 1, true));
  ASSERT_TRUE(one->Claim(*first, 20, 30, true));
  ASSERT_TRUE(two->Claim(*first, 96, 7, true));
  ASSERT_TRUE(one->Claim(*first, 20, 50, true)) << "again, and more";
  std::fill(second->data.begin(), second->data.begin() + 4, std::uint8_t{0});
  std::fill(first->data.begin() + 20, first->data.begin() + 70, std::uint8_t{0});
  std::fill(first->writer.begin() + 20, first->writer.begin() + 70, Writer::kDevice);
  std::fill(first->data.begin() + 96, first->data.end(), std::uint8_t{0});
  one->Restore();
  two->Restore();
  EXPECT_EQ(copy(first->data), data);
  EXPECT_EQ(copy(first->writer), writers);
  EXPECT_EQ(copy(second->data), data);
}

TEST_F(WordClaimsTest, MemoryIsBounded) {
  MemoryPool none(50);
  EXPECT_EQ(WordClaims::Make(memory, none), nullptr);
  WordClaimer poor(*claims, 3, none);
  EXPECT_TRUE(poor.Claim(*first, 0, 8, false));
  EXPECT_FALSE(poor.Claim(*first, 0, 8, true)) << "what it held can't be kept";
}

}  // namespace
}  // namespace upskill::ptx
