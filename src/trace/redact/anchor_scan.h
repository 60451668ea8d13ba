// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace upskill {

// Finds all occurrences of many words in one pass over a text (Aho and Corasick's automaton), ignoring the case of
// ASCII letters. Immutable after construction, hence thread-safe.
class AnchorScan {
 public:
  // Not empty each, with fewer than 64 different characters in all.
  explicit AnchorScan(const std::vector<std::string_view>& words);

  struct Hit {
    std::size_t word = 0;   // index of the word
    std::size_t begin = 0;  // of the occurrence in the text
    std::size_t end = 0;    // larger than begin + size of the word if a line break is within
  };

  // Calls `found` with each Hit, by rising ends. A word that is broken by a line end is found if `break_length` returns
  // the bytes of the break that a text begins with, 0 if there is none.
  template <typename BreakLength, typename Found>
  void Run(std::string_view text, BreakLength break_length, Found found) const {
    std::uint32_t row = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if ((byte == '\n' || byte == '\r' || byte == '\\') && row != 0) RunOverBreak(text, i, row, break_length, found);
      row = next_[row + classes_[byte]];
      if ((row & kHasOutput) == 0) continue;
      row &= ~kHasOutput;
      const std::size_t state = row / kClasses;
      for (std::uint32_t k = first_output_[state]; k < first_output_[state + 1]; ++k)
        found(Hit{outputs_[k], i + 1 - sizes_[outputs_[k]], i + 1});
    }
  }

 private:
  static constexpr std::uint32_t kClasses = 64;
  static constexpr std::uint32_t kHasOutput = 1U << 31U;

  // Continues behind the line end at `at`, for words that began before it.
  template <typename BreakLength, typename Found>
  void RunOverBreak(std::string_view text, std::size_t at, std::uint32_t row, BreakLength break_length,
                    Found found) const {
    const std::size_t skipped = break_length(text.substr(at));
    if (skipped == 0) return;
    const std::size_t from = at + skipped;
    for (std::size_t i = from; i < text.size(); ++i) {
      row = next_[row + classes_[static_cast<unsigned char>(text[i])]] & ~kHasOutput;
      const std::size_t state = row / kClasses;
      const std::size_t after = i + 1 - from;
      if (depths_[state] <= after) return;  // nothing from before the break is left
      for (std::uint32_t k = first_output_[state]; k < first_output_[state + 1]; ++k) {
        const std::size_t size = sizes_[outputs_[k]];
        if (size > after) found(Hit{outputs_[k], at - (size - after), i + 1});
      }
    }
  }

  std::array<std::uint8_t, 256> classes_{};  // of each byte; 0: in no word
  std::vector<std::uint32_t> next_;          // by state and class: the next state's row, and kHasOutput
  std::vector<std::uint32_t> depths_;        // of each state: characters of a word that it has seen
  std::vector<std::uint32_t> first_output_;  // by state, and one more: range in outputs_
  std::vector<std::uint32_t> outputs_;       // words that end in a state
  std::vector<std::size_t> sizes_;           // of each word
};

}  // namespace upskill
