// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A part of a prompt. Literal parts come from users and are tokenized as text, even where they look like special
// tokens.
struct PromptPiece {
  std::string text;
  bool literal = false;

  bool operator==(const PromptPiece&) const = default;
};

// The texts of a vocabulary's special tokens, such as <|im_end|>. They may have an effect only where the chat template
// writes them: in a skill, a case or another text of a user they would end its role. So they are hidden from the
// template by placeholders, and the prompt is cut at these. A prompt whose contents have no such text stays whole.
class SpecialTexts {
 public:
  SpecialTexts() = default;
  explicit SpecialTexts(std::vector<std::string> texts);

  struct Hidden {
    std::vector<std::string> contents;  // with placeholders
    std::vector<std::string> texts;     // what the placeholders replace, by their number
    std::string mark;                   // the beginning of each placeholder; occurs in no content
  };
  Hidden Hide(const std::vector<std::string>& contents) const;

  // The rendered prompt in pieces, with the hidden texts as literal ones.
  static std::vector<PromptPiece> Reveal(std::string_view prompt, const Hidden& hidden);

 private:
  std::size_t LengthAt(std::string_view text) const;

  std::vector<std::string> texts_;  // the longest first
  std::string first_bytes_;         // the bytes with which they begin
};

}  // namespace upskill
