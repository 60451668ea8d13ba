// SPDX-License-Identifier: Apache-2.0
#include "llama/tokenizer.h"

#include <algorithm>
#include <cstdint>

namespace upskill {
namespace {

constexpr unsigned char kContinuationMask = 0xC0;
constexpr unsigned char kContinuation = 0x80;

std::vector<std::string> CodePointsOf(const std::string& text) {
  std::vector<std::string> points;
  for (const char byte : text) {
    const bool continues = (static_cast<unsigned char>(byte) & kContinuationMask) == kContinuation;
    if (!continues || points.empty()) points.emplace_back();
    points.back() += byte;
  }
  return points;
}

}  // namespace

Result<Tokenizer::Tokens> Tokenizer::Prompt(const std::vector<PromptPiece>& pieces) const {
  Tokens tokens;
  if (pieces.size() == 1 && !pieces.front().literal) {
    tokens = Raw(pieces.front().text, true, true);
  } else {
    if (llama_vocab_get_add_bos(vocab_)) tokens.push_back(llama_vocab_bos(vocab_));
    bool begins = true;
    for (const PromptPiece& piece : pieces) {
      const Tokens more = piece.literal ? Literal(piece.text)
                          : begins      ? Raw(piece.text, false, true)
                                        : Inside(piece.text, true);
      tokens.insert(tokens.end(), more.begin(), more.end());
      begins = false;
    }
  }
  if (tokens.empty()) return Error{ErrorKind::kPermanent, "the prompt can't be tokenized"};
  return tokens;
}

std::optional<std::size_t> Tokenizer::Count(const std::string& text) const {
  // If there isn't room, the function returns the number of tokens needed as a negative number.
  const std::int32_t count =
      llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), nullptr, 0, false, false);
  return count > 0 ? std::nullopt : std::optional(static_cast<std::size_t>(-count));
}

Tokenizer::Tokens Tokenizer::Raw(const std::string& text, bool whole, bool special) const {
  Tokens tokens(text.size() + 8);
  const std::int32_t count = llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                                            static_cast<std::int32_t>(tokens.size()), whole, special);
  tokens.resize(static_cast<std::size_t>(std::max(0, count)));
  return tokens;
}

// SentencePiece vocabularies put a space before a text that is tokenized by itself. It isn't put after a newline.
Tokenizer::Tokens Tokenizer::Inside(const std::string& text, bool special) const {
  if (llama_vocab_type(vocab_) != LLAMA_VOCAB_TYPE_SPM) return Raw(text, false, special);
  const Tokens before = Raw("\n", false, special);
  const Tokens both = Raw("\n" + text, false, special);
  const bool separable = both.size() > before.size() && std::equal(before.begin(), before.end(), both.begin());
  if (!separable) return Raw(text, false, special);
  return {both.begin() + static_cast<std::ptrdiff_t>(before.size()), both.end()};
}

// Some vocabularies call the tokens that end an answer user-defined: these are recognized in any text, except in parts.
Tokenizer::Tokens Tokenizer::Literal(const std::string& text) const {
  Tokens tokens = Inside(text, false);
  if (std::none_of(tokens.begin(), tokens.end(), [this](llama_token t) { return llama_vocab_is_eog(vocab_, t); })) {
    return tokens;
  }
  Tokens parts;
  for (const std::string& point : CodePointsOf(text)) {
    const Tokens part = Inside(point, false);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  return parts;
}

}  // namespace upskill
