// SPDX-License-Identifier: Apache-2.0
#include "llama/allocation_limit.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace upskill {
namespace {

constexpr AllocationLimit::Limits kSmall{std::chrono::milliseconds(20), 1'000'000};

class AllocationLimitTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationLimit::IsEnforced()) GTEST_SKIP() << "this build has the operator new of a sanitizer";
  }
};

// Fails after a million calls instead of overrunning the stack.
std::size_t Nested(std::size_t depth) {
  const auto text = std::make_unique<std::string>(100, 'x');
  return depth == 1'000'000 ? depth : Nested(depth + 1) + text->size();
}

TEST_F(AllocationLimitTest, Memory) {
  const AllocationLimit limit(kSmall);
  std::vector<std::string> texts;
  for (int i = 0; i < 5; ++i) texts.assign(3, std::string(200'000, 'x'));  // what is released doesn't count
  EXPECT_EQ(limit.Exceeded(), std::nullopt);
  EXPECT_THROW(texts.emplace_back(500'000, 'x'), std::bad_alloc);
  EXPECT_EQ(limit.Exceeded(), "needed more than 1.0 MB");
}

TEST_F(AllocationLimitTest, TimeOfALoopThatCatchesTheException) {
  const AllocationLimit limit(kSmall);
  int caught = 0;
  while (caught < 2) {
    try {
      std::make_unique<std::string>(100, 'x');
    } catch (const std::bad_alloc&) {
      ++caught;
    }
  }
  EXPECT_EQ(limit.Exceeded(), "took more than 0.02 s");
}

TEST_F(AllocationLimitTest, Stack) {
  const AllocationLimit limit({std::chrono::hours(1), std::size_t{1} << 40U});
  EXPECT_THROW(Nested(0), std::bad_alloc);
  EXPECT_EQ(limit.Exceeded(), "calls itself too often");
}

TEST_F(AllocationLimitTest, ConcernsItsThreadAndItsLifeOnly) {
  const auto allocate = [] { return std::string(2'000'000, 'x').size(); };
  {
    const AllocationLimit limit(kSmall);
    std::size_t other = 0;
    std::thread([&] { other = allocate(); }).join();
    EXPECT_EQ(other, 2'000'000U);
    EXPECT_EQ(limit.Exceeded(), std::nullopt);
  }
  EXPECT_EQ(allocate(), 2'000'000U);
}

}  // namespace
}  // namespace upskill
