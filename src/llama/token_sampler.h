// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <span>
#include <vector>

#include "llama/handles.h"
#include "model/chat.h"

namespace upskill {

// Samples the tokens of one answer: top-k 40, top-p 0.95, min-p 0.05, temperature, seeded (llama.cpp's defaults and
// order). Temperature 0 picks the likeliest token. Equal logits and seed give equal tokens. Not thread-safe.
class TokenSampler {
 public:
  // `grammar`, which may be null, is a llama.cpp sampler positioned at the start of the answer: only tokens that it
  // accepts are sampled.
  explicit TokenSampler(const Sampling& sampling, LlamaSamplerHandle grammar = nullptr);

  // `logits`: one value per vocabulary entry.
  llama_token Draw(std::span<const float> logits);

 private:
  llama_token DrawFreely(std::span<const float> logits);
  std::vector<float> LogitsByGrammar(std::span<const float> logits) const;

  bool greedy_;
  LlamaSamplerHandle chain_;
  LlamaSamplerHandle grammar_;
  std::vector<llama_token_data> candidates_;
};

}  // namespace upskill
