// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace upskill {

// The types of checks that a suite may state: a row of kCheckTypes each, and a maker in check/check_makers or a wing.
enum class CheckKind {
  kContains,
  kNotContains,
  kAnyOf,
  kInOrder,
  kEquals,
  kRegex,
  kNotRegex,
  kNumber,
  kJsonSchema,
  kJsonValue,
  kTomlValue,
  kYamlValue,
  kFileExists,
  kCommand,
  kCudaCompile,
  kCudaBindings,
  kCudaRun,
  kAll,
  kAny,
  kAtLeast,
  kKernelBuilder,
  kJudge,
  kActivates,
  kToolCall,
};

// Keys that only one type has, which the check itself reads (CheckSpec::options).
using CheckOptions = std::array<std::string_view, 19>;
inline constexpr CheckOptions kNoOptions = {};
inline constexpr CheckOptions kNumberOptions = {"value",   "tolerance", "relative_tolerance",
                                                "minimum", "maximum",   "unit"};
inline constexpr CheckOptions kSchemaOptions = {"schema", "in"};
inline constexpr CheckOptions kValueOptions = {"at", "equals", "one_of", "pattern", "exists"};
inline constexpr CheckOptions kCommandOptions = {"command",         "exit_code", "stdout", "stderr",
                                                 "timeout_seconds", "needs",     "files"};
inline constexpr CheckOptions kCudaOptions = {
    "arch", "uses", "not_uses", "max_registers", "spills", "max_shared_bytes", "min_shared_alignment"};
inline constexpr CheckOptions kCudaRunOptions = {
    "function",       "launcher",        "arguments",         "sizes",          "reference_code",
    "seeds",          "repetitions",     "tolerance",         "deterministic",  "precision",
    "allow",          "stdout",          "max_bytes_to_host", "bank_conflicts", "min_coalescing",
    "max_divergence", "timeout_seconds", "init_inputs",       "reference_model"};
inline constexpr CheckOptions kCountOptions = {"count"};
inline constexpr CheckOptions kKernelOptions = {"require", "capabilities", "backends", "edition"};
inline constexpr CheckOptions kJudgeOptions = {"rubric", "against"};
inline constexpr CheckOptions kActivatesOptions = {"expected"};
inline constexpr CheckOptions kToolCallOptions = {"tool", "arguments", "pattern", "minimum", "maximum"};

// What a check is given: strings, a pattern, nothing but its options, or other checks, as a group.
enum class CheckOperand { kValues, kOneValue, kPattern, kOptions, kChecks };

struct CheckType {
  CheckKind kind;
  std::string_view name;  // as in suites: never rename
  CheckOperand operand;
  const CheckOptions& options;
  // For `upskill help checks`.
  std::string_view keys;
  std::string_view passes_when;

  // Whether it is about a file of the answer, which must be named.
  constexpr bool needs_file() const { return name.starts_with("file_"); }
  // Whether a passing answer contains at least one of the values, whatever else it says.
  constexpr bool wants_value() const {
    return kind == CheckKind::kContains || kind == CheckKind::kAnyOf || kind == CheckKind::kInOrder;
  }
  // Whether it searches the text by itself, with a pattern.
  constexpr bool searches() const {
    return kind == CheckKind::kRegex || kind == CheckKind::kNotRegex || kind == CheckKind::kNumber;
  }
  // Whether it runs or compiles what the answer says, in the sandbox.
  constexpr bool executes() const {
    return kind == CheckKind::kCommand || kind == CheckKind::kCudaCompile || kind == CheckKind::kCudaBindings ||
           kind == CheckKind::kCudaRun;
  }
  // Whether it shows that what the answer delivers works, as far as it goes; others look for texts and values.
  constexpr bool is_executed() const { return executes() || kind == CheckKind::kKernelBuilder; }
  // Whether it asks the model of --judge-model.
  constexpr bool asks_judge() const { return kind == CheckKind::kJudge; }
  // Whether it is about what a student reads, not about its answer.
  constexpr bool is_about_reading() const { return kind == CheckKind::kActivates; }
  // Whether it looks for a value in JSON, TOML or YAML.
  constexpr bool finds_value() const {
    return kind == CheckKind::kJsonValue || kind == CheckKind::kTomlValue || kind == CheckKind::kYamlValue;
  }
};

inline constexpr std::array<CheckType, 26> kCheckTypes = {{
    {CheckKind::kContains, "contains", CheckOperand::kValues, kNoOptions, "values or text",
     "every value occurs, ignoring case"},
    {CheckKind::kNotContains, "not_contains", CheckOperand::kValues, kNoOptions, "values or text",
     "none of the values occurs"},
    {CheckKind::kAnyOf, "any_of", CheckOperand::kValues, kNoOptions, "values or text",
     "at least one of the values occurs"},
    {CheckKind::kInOrder, "in_order", CheckOperand::kValues, kNoOptions, "values or text",
     "every value occurs, each after the one before"},
    {CheckKind::kEquals, "equals", CheckOperand::kOneValue, kNoOptions, "values or text",
     "the trimmed answer is the value"},
    {CheckKind::kRegex, "regex", CheckOperand::kPattern, kNoOptions, "pattern",
     "the pattern matches anywhere in the answer"},
    {CheckKind::kNotRegex, "not_regex", CheckOperand::kPattern, kNoOptions, "pattern",
     "the pattern matches nowhere in the answer"},
    {CheckKind::kNumber, "number", CheckOperand::kOptions, kNumberOptions, "value, unit, …",
     "the last number of the answer is the value"},
    {CheckKind::kJsonSchema, "json_schema", CheckOperand::kOptions, kSchemaOptions, "schema, in",
     "the answer is JSON that fits the schema"},
    {CheckKind::kJsonValue, "json_value", CheckOperand::kOptions, kValueOptions, "at, equals, …",
     "the JSON has such a value at the path"},
    {CheckKind::kTomlValue, "toml_value", CheckOperand::kOptions, kValueOptions, "at, equals, …",
     "the TOML has such a value at the path"},
    {CheckKind::kYamlValue, "yaml_value", CheckOperand::kOptions, kValueOptions, "at, equals, …",
     "the YAML has such a value at the path"},
    {CheckKind::kFileExists, "file_exists", CheckOperand::kOptions, kNoOptions, "path",
     "the answer contains this file"},
    {CheckKind::kContains, "file_contains", CheckOperand::kValues, kNoOptions, "path, values",
     "every value occurs in that file, ignoring case"},
    {CheckKind::kEquals, "file_equals", CheckOperand::kOneValue, kNoOptions, "path, text",
     "that file, trimmed, is the text"},
    {CheckKind::kCommand, "command", CheckOperand::kOptions, kCommandOptions, "command, …",
     "the command succeeds on the answer's files"},
    {CheckKind::kCudaCompile, "cuda_compile", CheckOperand::kOptions, kCudaOptions, "arch, uses, …",
     "nvcc compiles the CUDA files, which use …"},
    {CheckKind::kCudaBindings, "cuda_bindings", CheckOperand::kOptions, kNoOptions, "",
     "the binding compiles with PyTorch's headers"},
    {CheckKind::kCudaRun, "cuda_run", CheckOperand::kOptions, kCudaRunOptions, "function, …",
     "its kernels compute what the reference does"},
    {CheckKind::kAll, "all", CheckOperand::kChecks, kNoOptions, "checks", "every check of the group passes"},
    {CheckKind::kAny, "any", CheckOperand::kChecks, kNoOptions, "checks", "at least one check of the group passes"},
    {CheckKind::kAtLeast, "at_least", CheckOperand::kChecks, kCountOptions, "count, checks",
     "the weights of those that pass reach the count"},
    {CheckKind::kKernelBuilder, "kernel_builder", CheckOperand::kOptions, kKernelOptions, "require, …",
     "the files are a valid kernel-builder project"},
    {CheckKind::kJudge, "judge", CheckOperand::kOptions, kJudgeOptions, "rubric, against",
     "the judge says that the rubric is met"},
    {CheckKind::kActivates, "activates", CheckOperand::kOptions, kActivatesOptions, "expected",
     "the skill is read, or not (eval --activation)"},
    {CheckKind::kToolCall, "tool_call", CheckOperand::kOptions, kToolCallOptions, "tool, …",
     "a student in a workspace has called the tool"},
}};

// nullptr for an unknown name.
constexpr const CheckType* FindCheckType(std::string_view name) {
  for (const CheckType& type : kCheckTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace upskill
