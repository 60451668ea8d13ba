// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llama.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "llama/special_texts.h"
#include "util/result.h"

namespace upskill {

// Turns texts into the tokens of one vocabulary. Thread-safe.
class Tokenizer {
 public:
  using Tokens = std::vector<llama_token>;

  explicit Tokenizer(const llama_vocab* vocab) : vocab_(vocab) {}

  // A whole prompt, with the tokens that the model expects around it. Literal pieces give no special tokens.
  Result<Tokens> Prompt(const std::vector<PromptPiece>& pieces) const;

  // What a chat template writes somewhere inside a prompt.
  Tokens Markup(const std::string& text) const { return Inside(text, true); }

  // Of a text without special tokens.
  std::optional<std::size_t> Count(const std::string& text) const;

 private:
  Tokens Raw(const std::string& text, bool whole, bool special) const;
  Tokens Inside(const std::string& text, bool special) const;
  Tokens Literal(const std::string& text) const;

  const llama_vocab* vocab_;
};

}  // namespace upskill
