// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/anchor_scan.h"

#include "util/invariant.h"

namespace upskill {

AnchorScan::AnchorScan(const std::vector<std::string_view>& words) {
  const auto fold = [](char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); };
  std::uint8_t classes = 0;
  for (const std::string_view word : words) {
    CHECK(!word.empty());
    for (const char c : word) {
      std::uint8_t& own = classes_.at(fold(c));
      if (own == 0) own = ++classes;
    }
  }
  CHECK(classes < kClasses);
  for (unsigned char c = 'A'; c <= 'Z'; ++c) classes_.at(c) = classes_.at(c - 'A' + 'a');

  // The tree of the words; 0 is its root and also says that there is no edge.
  std::vector<std::vector<std::uint32_t>> ends(1);
  next_.assign(kClasses, 0);
  depths_.assign(1, 0);
  for (std::uint32_t word = 0; word < words.size(); ++word) {
    std::uint32_t state = 0;
    for (const char c : words[word]) {
      const std::size_t edge = state * kClasses + classes_.at(fold(c));
      if (next_[edge] == 0) {
        next_[edge] = static_cast<std::uint32_t>(depths_.size());
        next_.resize(next_.size() + kClasses, 0);
        depths_.push_back(depths_[state] + 1);
        ends.emplace_back();
      }
      state = next_[edge];
    }
    ends[state].push_back(word);
    sizes_.push_back(words[word].size());
  }

  // Breadth first: missing edges lead where the longest proper suffix leads.
  std::vector<std::uint32_t> suffix(depths_.size(), 0);
  std::vector<std::uint32_t> queue = {0};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t state = queue[i];
    for (std::size_t c = 0; c < kClasses; ++c) {
      std::uint32_t& edge = next_[std::size_t{state} * kClasses + c];
      const std::uint32_t fallback = state == 0 ? 0 : next_[std::size_t{suffix[state]} * kClasses + c];
      if (edge == 0) {
        edge = fallback;
        continue;
      }
      suffix[edge] = fallback;
      ends[edge].insert(ends[edge].end(), ends[fallback].begin(), ends[fallback].end());
      queue.push_back(edge);
    }
  }
  for (const std::vector<std::uint32_t>& words_here : ends) {
    first_output_.push_back(static_cast<std::uint32_t>(outputs_.size()));
    outputs_.insert(outputs_.end(), words_here.begin(), words_here.end());
  }
  first_output_.push_back(static_cast<std::uint32_t>(outputs_.size()));
  for (std::uint32_t& edge : next_) edge = edge * kClasses | (ends[edge].empty() ? 0 : kHasOutput);
}

}  // namespace upskill
