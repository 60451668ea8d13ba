// SPDX-License-Identifier: Apache-2.0
#include "llama/token_guess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<llama_token> Guess(const std::vector<llama_token>& text, std::size_t most) {
  const auto next = GuessNext(text, most);
  return {next.begin(), next.end()};
}

TEST(GuessNext, IsWhatFollowedTheLastTime) {
  EXPECT_THAT(Guess({1, 2, 3, 7, 8, 1, 2, 3, 9, 1, 2, 3}, 4), ElementsAre(9, 1, 2, 3));
  EXPECT_THAT(Guess({1, 2, 3, 7, 8, 1, 2, 3}, 2), ElementsAre(7, 8));
  EXPECT_THAT(Guess({5, 5, 5, 5}, 8), ElementsAre(5));  // a repetition goes on
  EXPECT_THAT(Guess({1, 2, 3, 4, 2, 3}, 8), IsEmpty());
  EXPECT_THAT(Guess({1, 2, 3}, 8), IsEmpty());
  EXPECT_THAT(Guess({}, 8), IsEmpty());
  EXPECT_THAT(Guess({1, 2, 3, 7, 1, 2, 3}, 0), IsEmpty());
}

}  // namespace
}  // namespace upskill
