// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace upskill {

// The lines that a reader knows from earlier texts, so that a run of them can be told in one line. Owns copies of the
// texts. Not thread-safe.
class ShownLines {
 public:
  // `where`: the texts' place in words, such as "as above".
  void Add(std::string_view text, const std::string& where);

  // `text` with each run of lines that one of the added texts has, too, in the same order, replaced by a line such as
  // `[42 lines as above, from "int main() {" to "}"]`. Line numbers in front don't count. Runs that are hardly longer
  // than that line stay.
  std::string WithoutRepeats(std::string_view text) const;

 private:
  // Lines of `lines`, from `from`, that are equal to those from `at`.
  std::size_t RunLength(const std::vector<std::string_view>& lines, std::size_t from, std::size_t at) const;

  std::deque<std::string> texts_;
  std::vector<std::string_view> lines_;  // of all texts, each text ended by an entry without data
  std::vector<std::size_t> text_of_;     // of each line
  std::vector<std::string> where_;       // of each text
  std::unordered_map<std::string_view, std::vector<std::size_t>> places_;  // of a line in `lines_`
};

}  // namespace upskill
