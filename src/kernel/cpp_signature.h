// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/cpp_tokens.h"
#include "kernel/op_schema.h"

namespace upskill {

// A C++ type as PyTorch's operators see it. Aliases and types that operators don't have are OpKind::kOther.
struct CppType {
  OpType type;             // its text is as written
  bool is_narrow = false;  // int, float and others, which PyTorch doesn't accept for operators
};

// A function's declaration or definition.
struct CppSignature {
  std::string_view name;
  std::size_t token = 0;  // of the name
  bool is_definition = false;
  bool is_template = false;
  bool is_static = false;
  bool is_extern_c = false;  // by its own extern "C"
  std::string qualifiers;    // before the name: "a::b"
  bool is_boxed = false;     // takes its arguments from a stack, as functions of the stable ABI do
  std::vector<CppType> parameters;
  std::size_t required = 0;  // parameters without a default
  bool is_variadic = false;
  std::optional<std::vector<CppType>> returns;  // empty for void, several for a tuple; nothing if not written (auto)
};

// The declarations of functions with one of the names (all functions if it is null), in any namespace or class.
// Declarations with more than 600 tokens of parameters, and those within macros, are left out.
std::vector<CppSignature> FindSignatures(const CppText& code, const std::set<std::string, std::less<>>* names);

}  // namespace upskill
