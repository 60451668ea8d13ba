// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace upskill {

// Appends `text` as a JSON string that may stand inside a <script> element: `<`, controls and U+2028/2029 are escaped,
// invalid UTF-8 becomes U+FFFD.
void AppendScriptString(std::string& out, std::string_view text);

// Texts by number, equal ones once, written as JSON arrays of bounded size, so that a reader parses only those it
// needs.
class TextTable {
 public:
  std::uint32_t Add(std::string_view text);

  // Ends the last chunk. Nothing may be added afterwards.
  void Finish();
  const std::vector<std::string>& chunks() const { return chunks_; }
  const std::vector<std::uint32_t>& first_of_chunk() const { return first_; }
  std::size_t size() const { return numbers_.size(); }
  std::size_t bytes() const { return full_bytes_ + (chunks_.empty() ? 0 : chunks_.back().size()); }  // of the chunks

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming)
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
  std::size_t full_bytes_ = 0;  // of all chunks but the last
  std::vector<std::string> chunks_;
  std::vector<std::uint32_t> first_;  // number of each chunk's first text
};

}  // namespace upskill
