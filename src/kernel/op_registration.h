// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/cpp_tokens.h"

namespace upskill {

// The function that implements an operator, as far as its name can be read.
struct OpFunction {
  std::string name;         // without its namespace; empty for a lambda, or if it can't be read
  bool is_wrapped = false;  // by a function that may change its signature, such as make_pytorch_shim(&f)
};

// ops.def("scale(Tensor! out, Tensor x) -> ()"), or ops.def(schema, &function)
struct OpDefinition {
  std::string schema;  // as written; empty if it isn't a string
  std::size_t token = 0;
  std::uint32_t branch = 0;  // of #if
  std::optional<OpFunction> function;
};

// ops.impl("scale", torch::kCUDA, &scale)
struct OpImplementation {
  std::string name;
  std::string device;  // CUDA, CPU, MPS, XPU; empty if it is for all
  std::size_t token = 0;
  std::uint32_t branch = 0;
  OpFunction function;
};

struct OpRegistrations {
  std::vector<OpDefinition> definitions;
  std::vector<OpImplementation> implementations;
};

// Whether it is one of PyTorch's macros that begin a block of registrations, with any name.
bool IsTorchLibrary(std::string_view macro);

// The registrations through the variables that TORCH_LIBRARY_EXPAND(…) and the like declare in this file.
OpRegistrations FindRegistrations(const CppText& code);

}  // namespace upskill
