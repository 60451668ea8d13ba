// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace upskill {

// The types of checks that a suite may state. Everything that depends on the type is here or switches over the kind.
enum class CheckKind {
  kContains,
  kNotContains,
  kAnyOf,
  kInOrder,
  kEquals,
  kRegex,
  kNumber,
  kJsonSchema,
  kJsonValue,
  kTomlValue,
  kYamlValue,
  kFileExists,
  kAll,
  kAny,
  kAtLeast,
};

struct CheckType {
  // kOptions: keys of its own (`options`), which the check itself reads. kChecks: other checks, as a group.
  enum class Operand { kValues, kOneValue, kPattern, kOptions, kChecks };
  static constexpr std::size_t kMaxOptions = 6;

  CheckKind kind;
  std::string_view name;  // as in suites: never rename
  Operand operand;
  bool needs_file;   // it is about a file of the answer, which must be named
  bool wants_value;  // a passing answer contains at least one of the values, whatever else it says
  std::array<std::string_view, kMaxOptions> options;
  // For `upskill help checks`.
  std::string_view keys;
  std::string_view passes_when;
};

inline constexpr std::array<CheckType, 17> kCheckTypes = {{
    {CheckKind::kContains,
     "contains",
     CheckType::Operand::kValues,
     false,
     true,
     {},
     "values or text",
     "every value occurs in the answer, in any case"},
    {CheckKind::kNotContains,
     "not_contains",
     CheckType::Operand::kValues,
     false,
     false,
     {},
     "values or text",
     "none of the values occurs"},
    {CheckKind::kAnyOf,
     "any_of",
     CheckType::Operand::kValues,
     false,
     true,
     {},
     "values or text",
     "at least one of the values occurs"},
    {CheckKind::kInOrder,
     "in_order",
     CheckType::Operand::kValues,
     false,
     true,
     {},
     "values",
     "every value occurs, each after the one before"},
    // Its value may be one of the words in the input, and an answer that says more than the value fails.
    {CheckKind::kEquals,
     "equals",
     CheckType::Operand::kOneValue,
     false,
     false,
     {},
     "values or text",
     "the answer is the value, outer spaces aside"},
    {CheckKind::kRegex,
     "regex",
     CheckType::Operand::kPattern,
     false,
     false,
     {},
     "pattern",
     "the pattern matches anywhere in the answer"},
    {CheckKind::kNumber,
     "number",
     CheckType::Operand::kOptions,
     false,
     false,
     {"value", "tolerance", "relative_tolerance", "minimum", "maximum", "unit"},
     "value, unit, …",
     "the last number of the answer is the value"},
    {CheckKind::kJsonSchema,
     "json_schema",
     CheckType::Operand::kOptions,
     false,
     false,
     {"schema"},
     "schema",
     "the answer is JSON that fits the schema"},
    {CheckKind::kJsonValue,
     "json_value",
     CheckType::Operand::kOptions,
     false,
     false,
     {"at", "equals", "one_of", "pattern", "exists"},
     "at, equals, …",
     "the JSON has such a value at the path"},
    {CheckKind::kTomlValue,
     "toml_value",
     CheckType::Operand::kOptions,
     false,
     false,
     {"at", "equals", "one_of", "pattern", "exists"},
     "at, equals, …",
     "the TOML has such a value at the path"},
    {CheckKind::kYamlValue,
     "yaml_value",
     CheckType::Operand::kOptions,
     false,
     false,
     {"at", "equals", "one_of", "pattern", "exists"},
     "at, equals, …",
     "the YAML has such a value at the path"},
    {CheckKind::kFileExists,
     "file_exists",
     CheckType::Operand::kOptions,
     true,
     false,
     {},
     "path",
     "the answer has such a file"},
    {CheckKind::kContains,
     "file_contains",
     CheckType::Operand::kValues,
     true,
     true,
     {},
     "path, values",
     "every value occurs in that file, in any case"},
    {CheckKind::kEquals,
     "file_equals",
     CheckType::Operand::kOneValue,
     true,
     false,
     {},
     "path, text",
     "that file is the text, outer spaces aside"},
    {CheckKind::kAll,
     "all",
     CheckType::Operand::kChecks,
     false,
     false,
     {},
     "checks",
     "every check of the group passes"},
    {CheckKind::kAny,
     "any",
     CheckType::Operand::kChecks,
     false,
     false,
     {},
     "checks",
     "at least one check of the group passes"},
    {CheckKind::kAtLeast,
     "at_least",
     CheckType::Operand::kChecks,
     false,
     false,
     {"count"},
     "count, checks",
     "so many pass, each counted by its weight"},
}};

// nullptr for an unknown name.
constexpr const CheckType* FindCheckType(std::string_view name) {
  for (const CheckType& type : kCheckTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace upskill
