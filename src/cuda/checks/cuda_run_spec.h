// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda/checks/element_type.h"
#include "cuda/device/device_task.h"
#include "skill/suite.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// How the elements of a buffer are made.
struct FillRule {
  enum class Kind { kUniform, kNormal, kConstant, kIntegers };
  Kind kind = Kind::kNormal;
  double low = -1.0;
  double high = 1.0;            // of integers: below it
  std::string high_expression;  // instead of `high`: a size
  double infinite_every = 0.0;  // every such element is minus infinity; 0: none
};

struct RunArgument {
  std::string name;
  ElementType type = ElementType::kF32;
  ArgumentRole role = ArgumentRole::kIn;
  std::vector<std::string> shape;   // of a buffer: numbers and expressions of sizes
  FillRule fill;                    // of a buffer that is read
  std::string value;                // of a scalar: a number or an expression of sizes
  std::optional<double> tolerance;  // of a buffer that is written
  bool is_stream = false;           // cudaStream_t: the default one
};

using Sizes = std::map<std::string, double>;

// What a check of the type cuda_run states.
struct CudaRunSpec {
  std::string function;  // its declaration; empty: the answer is a program of its own
  // Of KernelBench's class ModelNew, which the answer has in Python: a list (EvaluateInput). `function` is ours then.
  // Its forward gets the buffers that are read, and returns those of the role `out`.
  std::optional<Json> init_inputs;
  std::string launcher;  // code that is compiled instead of the answer's file, which it includes
  std::vector<RunArgument> arguments;
  std::vector<Sizes> sizes;
  std::string reference;  // the code of a function `reference` for the host
  std::string model;      // instead of it: a task file of KernelBench. Its forward gets the scalars, too
  int seeds = 1;
  int repetitions = 2;
  std::optional<double> tolerance;
  bool deterministic = false;
  std::string precision;
  std::vector<std::string> allow;  // kinds of findings
  std::uint64_t max_bytes_to_host = 256;
  std::optional<std::uint64_t> bank_conflicts;
  std::optional<double> min_coalescing;
  std::optional<double> max_divergence;
  std::string stdout_pattern;  // of a program
  std::chrono::milliseconds time{120'000};
};

// Errors: an option of the wrong type, a name that nothing defines, more than a check may ask for.
Result<CudaRunSpec> ReadCudaRunSpec(const CheckSpec& spec);

// The name that a declaration declares: launch_softmax. Empty if there is none.
std::string DeclaredName(const std::string& declaration);

// "rows*cols", "cols+1", "(n" isn't one: numbers and names of sizes, joined by * + - and / (rounded up), from left to
// right. Error: an unknown name, something else.
Result<double> EvaluateSize(const std::string& expression, const Sizes& sizes);

// A size as whole as it is.
Json SizeAsJson(double value);

// An input of a model's constructor: texts in it, and in its lists, are expressions of sizes.
Result<Json> EvaluateInput(const Json& input, const Sizes& sizes);

// The elements of a buffer with this shape. Error also: more than a check may have.
Result<std::size_t> ElementCount(const RunArgument& argument, const Sizes& sizes);

// "rows=3, cols=257".
std::string SizesText(const Sizes& sizes);

}  // namespace upskill
