// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace upskill {

// Bytes of text per token, for estimates where no tokenizer is at hand. Measured with nine tokenizers (Llama 3, Qwen 2
// and 3.5, Gemma 4, DeepSeek, Phi 3, GPT-2, Command R, SmolLM2): 2.7 to 3.8 in a skill (median 3.1), 3.1 to 3.5 in
// Markdown documentation, 2.6 to 3.7 in C++, 2.3 to 3.0 in an agent's JSON trace, 2.3 to 6.4 in Chinese and Japanese.
inline constexpr std::size_t kBytesPerToken = 3;

// Estimated number of tokens of a text, rounded up.
constexpr std::size_t EstimateTokens(std::string_view text) {
  return (text.size() + kBytesPerToken - 1) / kBytesPerToken;
}

}  // namespace upskill
