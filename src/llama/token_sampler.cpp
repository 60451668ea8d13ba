// SPDX-License-Identifier: Apache-2.0
#include "llama/token_sampler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "util/rng.h"

namespace upskill {
namespace {

constexpr std::size_t kTopK = 40;
constexpr float kTopP = 0.95F;
constexpr float kMinP = 0.05F;
constexpr double kDefaultTemperature = 0.7;
constexpr float kRejected = -std::numeric_limits<float>::infinity();  // the logit of a token that the grammar rejects
constexpr std::uint64_t kSeedMask = 0x7FFFFFFF;                       // 0xFFFFFFFF would mean a random seed

bool Better(const llama_token_data& a, const llama_token_data& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

}  // namespace

TokenSampler::TokenSampler(const Sampling& sampling, LlamaSamplerHandle grammar)
    : greedy_(sampling.temperature.value_or(kDefaultTemperature) <= 0.0),
      chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())),
      grammar_(std::move(grammar)) {
  llama_sampler_chain_add(chain_.get(), llama_sampler_init_top_p(kTopP, 1));
  llama_sampler_chain_add(chain_.get(), llama_sampler_init_min_p(kMinP, 1));
  llama_sampler_chain_add(
      chain_.get(), llama_sampler_init_temp(static_cast<float>(sampling.temperature.value_or(kDefaultTemperature))));
  llama_sampler_chain_add(chain_.get(),
                          llama_sampler_init_dist(static_cast<std::uint32_t>(Rng(sampling.seed).Next() & kSeedMask)));
}

llama_token TokenSampler::Draw(std::span<const float> logits) {
  llama_token token = DrawFreely(logits);
  if (!grammar_) return token;
  // Like llama.cpp: checks one token against the grammar first, and the whole vocabulary only if that token is
  // rejected.
  llama_token_data one{token, 1.0F, 0.0F};
  llama_token_data_array drawn{&one, 1, -1, false};
  llama_sampler_apply(grammar_.get(), &drawn);
  if (one.logit == kRejected) {
    const std::vector<float> allowed = LogitsByGrammar(logits);
    if (std::all_of(allowed.begin(), allowed.end(), [](float logit) { return logit == kRejected; })) {
      grammar_.reset();  // no token can continue it; the answer's parser will report that
      return token;
    }
    token = DrawFreely(allowed);
  }
  llama_sampler_accept(grammar_.get(), token);
  return token;
}

// The logits, with kRejected for tokens that the grammar rejects.
std::vector<float> TokenSampler::LogitsByGrammar(std::span<const float> logits) const {
  std::vector<llama_token_data> all;
  all.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) all.push_back({static_cast<llama_token>(i), logits[i], 0.0F});
  llama_token_data_array array{all.data(), all.size(), -1, false};
  llama_sampler_apply(grammar_.get(), &array);
  std::vector<float> allowed(logits.size(), kRejected);
  for (std::size_t i = 0; i < array.size; ++i)
    allowed[static_cast<std::size_t>(array.data[i].id)] = array.data[i].logit;
  return allowed;
}

llama_token TokenSampler::DrawFreely(std::span<const float> logits) {
  if (greedy_) {
    return static_cast<llama_token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  // Our own top-k: one pass with a heap of 40 costs a tenth of building and sorting a list of the whole vocabulary.
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (candidates_.size() == kTopK && logits[i] <= candidates_.front().logit) continue;
    if (candidates_.size() == kTopK) {
      std::pop_heap(candidates_.begin(), candidates_.end(), Better);
      candidates_.pop_back();
    }
    candidates_.push_back({static_cast<llama_token>(i), logits[i], 0.0F});
    std::push_heap(candidates_.begin(), candidates_.end(), Better);
  }
  std::erase_if(candidates_, [](const llama_token_data& candidate) { return candidate.logit == kRejected; });
  std::sort(candidates_.begin(), candidates_.end(), Better);
  llama_token_data_array array{candidates_.data(), candidates_.size(), -1, true};
  llama_sampler_apply(chain_.get(), &array);
  const std::int64_t chosen = array.selected < 0 ? 0 : array.selected;
  return array.data[chosen].id;
}

}  // namespace upskill
