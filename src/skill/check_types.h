// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace upskill {

// The types of checks that a suite may state. Everything that depends on the type is here or switches over the kind.
enum class CheckKind { kContains, kNotContains, kAnyOf, kEquals, kRegex };

struct CheckType {
  enum class Operand { kValues, kOneValue, kPattern };

  CheckKind kind;
  std::string_view name;  // as in suites: never rename
  Operand operand;
  bool wants_value;  // a passing answer contains at least one of the values, whatever else it says
  // For `upskill help checks`.
  std::string_view keys;
  std::string_view passes_when;
};

inline constexpr std::array<CheckType, 5> kCheckTypes = {{
    {CheckKind::kContains, "contains", CheckType::Operand::kValues, true, "values or text",
     "every value occurs in the answer, in any case"},
    {CheckKind::kNotContains, "not_contains", CheckType::Operand::kValues, false, "values or text",
     "none of the values occurs"},
    {CheckKind::kAnyOf, "any_of", CheckType::Operand::kValues, true, "values or text",
     "at least one of the values occurs"},
    // Its value may be one of the words in the input, and an answer that says more than the value fails.
    {CheckKind::kEquals, "equals", CheckType::Operand::kOneValue, false, "values or text",
     "the answer is the value, outer spaces aside"},
    {CheckKind::kRegex, "regex", CheckType::Operand::kPattern, false, "pattern",
     "the pattern matches anywhere in the answer"},
}};

// nullptr for an unknown name.
constexpr const CheckType* FindCheckType(std::string_view name) {
  for (const CheckType& type : kCheckTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace upskill
