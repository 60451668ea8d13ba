// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// What a type of an operator's schema, or the C++ type that stands for it, holds.
enum class OpKind : std::uint8_t {
  kTensor,
  kInt,     // C++: int64_t
  kSymInt,  // C++: c10::SymInt, or int64_t
  kFloat,   // C++: double
  kBool,
  kString,
  kScalar,
  kOther,  // a type that isn't compared, such as Generator, or a C++ type whose name says nothing
};

// One type: Tensor, int?, Tensor[], float[]?.
struct OpType {
  OpKind kind = OpKind::kOther;
  bool optional = false;  // of the whole
  bool list = false;
  bool item_optional = false;  // Tensor?[]
  std::string text;            // as written, for messages
};

struct OpArgument {
  OpType type;
  std::string name;
  bool is_written = false;  // Tensor! or Tensor(a!)
  bool has_default = false;
};

// scale(Tensor! out, Tensor x, float s) -> ()
struct OpSchema {
  std::string name;  // with its overload, if it has one: add.out
  std::vector<OpArgument> arguments;
  std::optional<std::vector<OpType>> returns;  // nothing if the schema is only a name
};

// Parses a schema of PyTorch's operators (aten/src/ATen/native/README.md, "func"). A schema may be a name alone.
// Errors: what is wrong, with the offending part; more than 200 arguments.
Result<OpSchema> ParseOpSchema(std::string_view text);

}  // namespace upskill
