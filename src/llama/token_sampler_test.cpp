// SPDX-License-Identifier: Apache-2.0
#include "llama/token_sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "util/rng.h"

namespace upskill {
namespace {

Sampling With(double temperature, std::uint64_t seed = 0) {
  Sampling sampling;
  sampling.temperature = temperature;
  sampling.seed = seed;
  return sampling;
}

// Logits from −2 to 2, every time the same.
std::vector<float> SomeLogits(std::size_t count) {
  Rng rng(11);
  std::vector<float> logits;
  for (std::size_t i = 0; i < count; ++i) logits.push_back(static_cast<float>(4.0 * rng.Uniform() - 2.0));
  return logits;
}

std::vector<llama_token> DrawMany(TokenSampler& sampler, const std::vector<float>& logits, int count) {
  std::vector<llama_token> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(sampler.Draw(logits));
  return tokens;
}

// The ids of the `count` likeliest tokens.
std::set<llama_token> Top(const std::vector<float>& logits, std::size_t count) {
  std::vector<llama_token> ids;
  for (std::size_t i = 0; i < logits.size(); ++i) ids.push_back(static_cast<llama_token>(i));
  std::sort(ids.begin(), ids.end(), [&](llama_token a, llama_token b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(TokenSampler, GreedyTakesTheLikeliest) {
  TokenSampler sampler(With(0.0, 5));
  EXPECT_EQ(sampler.Draw(std::vector<float>{0.1F, 3.0F, -1.0F}), 1);
  EXPECT_EQ(sampler.Draw(std::vector<float>{2.0F, 2.0F, 1.0F}), 0);  // the first of equal ones
  EXPECT_EQ(sampler.Draw(std::vector<float>{-9.0F, -8.0F, -7.0F}), 2);
}

TEST(TokenSampler, EqualSeedsDrawEqualTokens) {
  const std::vector<float> logits = SomeLogits(500);
  TokenSampler first(With(0.8, 42));
  TokenSampler second(With(0.8, 42));
  TokenSampler other(With(0.8, 43));
  const std::vector<llama_token> tokens = DrawMany(first, logits, 50);
  EXPECT_EQ(DrawMany(second, logits, 50), tokens);
  EXPECT_NE(DrawMany(other, logits, 50), tokens);
}

TEST(TokenSampler, NeverOutsideTheFortyLikeliest) {
  const std::vector<float> logits = SomeLogits(500);
  const std::set<llama_token> top = Top(logits, 40);
  TokenSampler sampler(With(5.0, 1));  // hot: every candidate is about as likely
  std::set<llama_token> drawn;
  for (const llama_token token : DrawMany(sampler, logits, 2000)) {
    ASSERT_TRUE(top.contains(token)) << token;
    drawn.insert(token);
  }
  EXPECT_GT(drawn.size(), 30U);
}

TEST(TokenSampler, DrawsInProportion) {
  TokenSampler sampler(With(1.0, 3));
  const std::vector<float> logits = {0.0F, std::log(3.0F)};  // a quarter and three quarters
  const std::vector<llama_token> tokens = DrawMany(sampler, logits, 2000);
  EXPECT_NEAR(static_cast<double>(std::count(tokens.begin(), tokens.end(), 1)), 1500.0, 80.0);
}

TEST(TokenSampler, LeavesOutTheUnlikely) {
  TokenSampler sampler(With(1.0, 3));
  const std::vector<float> logits = {0.0F, 5.0F, 0.0F, 4.9F};  // the zeros have less than a twentieth of the likeliest
  for (const llama_token token : DrawMany(sampler, logits, 500)) EXPECT_EQ(token % 2, 1);
}

TEST(TokenSampler, OddLogits) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  TokenSampler sampler(With(0.7, 3));
  EXPECT_EQ(sampler.Draw(std::vector<float>{7.0F}), 0);
  EXPECT_EQ(sampler.Draw(std::vector<float>{kNever, 1.0F, kNever}), 1);
  const std::vector<float> equal(100, 0.0F);
  for (const llama_token token : DrawMany(sampler, equal, 100)) EXPECT_LT(token, 40);
}

}  // namespace
}  // namespace upskill
