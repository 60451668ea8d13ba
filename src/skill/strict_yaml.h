// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace upskill {

inline constexpr std::size_t kMaxStrictYamlDepth = 200;
// yaml-cpp may take 250 times the memory.
inline constexpr std::size_t kMaxStrictYamlBytes = std::size_t{1} << 20U;

// A value of StrictYAML, the part of YAML that the Agent Skills specification's reference implementation reads: every
// scalar is text, and flow style, anchors, tags and duplicate keys are errors. Lines and columns (in code points) start
// at 1.
struct StrictYaml {
  enum class Kind { kText, kList, kMap };
  struct Key {
    std::string text;
    std::size_t line = 0;
    std::size_t column = 0;
  };

  Kind kind = Kind::kText;
  std::string text;
  std::vector<Key> keys;          // of a map, one for each item, in the order of the text
  std::vector<StrictYaml> items;  // of a list or map
  std::size_t line = 0;
  std::size_t column = 0;

  // The item of a map; nullptr if there is none.
  const StrictYaml* Find(std::string_view key) const;
};

// The first problem of a text, as a phrase on one line.
struct StrictYamlProblem {
  std::string message;
  std::size_t line = 0;
  std::size_t column = 0;
};

// Reads valid UTF-8 whose line ends are LF. A text without content is an empty scalar. Takes time and memory in
// proportion to the text. A larger text than kMaxStrictYamlBytes and deeper nesting than kMaxStrictYamlDepth are
// problems.
std::variant<StrictYaml, StrictYamlProblem> ReadStrictYaml(std::string_view text);

}  // namespace upskill
