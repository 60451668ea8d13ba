// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace upskill {

// Finds short expressions in one pass over a text, so that slow patterns run only where their cue occurs. Ignores case.
// Immutable after construction, hence thread-safe.
class CueSet {
 public:
  explicit CueSet(const std::vector<std::string_view>& cues);

  // Indices of the cues that occur, in order.
  std::vector<int> In(std::string_view text) const;

 private:
  struct Expressions;
  std::shared_ptr<const Expressions> expressions_;
  int count_ = 0;
};

}  // namespace upskill
