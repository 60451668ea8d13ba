// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernel/kernel_problem.h"
#include "util/text.h"

namespace upskill {

// A value of a TOML document, with its place.
struct TomlNode {
  enum class Kind { kTable, kArray, kString, kInteger, kFloat, kBoolean, kTime };

  Kind kind = Kind::kTable;
  std::string text;             // of a string
  std::int64_t number = 0;      // of an integer
  TextPosition at;              // of the value; of a table with a header, of the header
  std::string key;              // in its table
  TextPosition key_at;          // where the key is written
  std::vector<TomlNode> below;  // a table's members, sorted by key; an array's items

  // nullptr if there is none.
  const TomlNode* Find(std::string_view name) const;
};

// "a string", "a table", …
std::string_view TomlKindName(TomlNode::Kind kind);

// Parses TOML 1.0 of at most 1 MiB. The problem's file is `file`.
std::variant<TomlNode, KernelProblem> ParseTomlTree(std::string_view text, const std::string& file);

}  // namespace upskill
