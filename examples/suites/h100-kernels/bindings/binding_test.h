// SPDX-License-Identifier: Apache-2.0
// What the tests of bindings have in common: the operator that torch_binding.cpp registered, calls of it, and the
// launcher's arguments. Tests end at the first failure.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "torch_stand_in.h"

[[noreturn]] inline void Fail(const std::string& text) {
  fprintf(stderr, "FAIL: %s\n", text.c_str());
  _Exit(1);
}

// What a launcher is called with, in its parameters' order: pointers, then numbers.
struct LaunchArguments {
  std::vector<const void*> pointers;
  std::vector<double> numbers;
};
inline std::vector<LaunchArguments> g_launches;

// Called by the test's launcher.
inline void Launched(cudaStream_t stream, std::vector<const void*> pointers, std::vector<double> numbers) {
  if (stream != kCurrentStream) Fail("doesn't launch on PyTorch's current stream");
  g_launches.push_back({pointers, numbers});
}

// The operator, whose schema must be this one.
inline torch::Operator& FindOperator(const std::string& schema, const std::string& types) {
  if (torch::Registrations() != 1) Fail("REGISTER_EXTENSION(TORCH_EXTENSION_NAME) isn't there exactly once");
  const std::string name = torch::Library::NameOf(schema);
  for (torch::Operator& op : torch::Registered().operators) {
    if (torch::Library::NameOf(op.schema) != name) continue;
    if (op.schema != schema) Fail("schema " + op.schema + " instead of " + schema);
    if (op.call == nullptr) Fail("the operator has no implementation for CUDA");
    if (op.types != types) Fail("the function's parameters are " + op.types + "instead of " + types);
    return op;
  }
  Fail("no operator " + name);
}

// The call must launch the kernel once: with the data of these tensors and these numbers.
inline void MustLaunch(torch::Operator& op, std::vector<torch::Argument> arguments,
                       const std::vector<torch::Tensor>& tensors, const std::vector<double>& numbers) {
  g_launches.clear();
  try {
    op.call(op.function, arguments);
  } catch (const std::exception& error) {
    Fail(std::string("refuses right tensors: ") + error.what());
  }
  if (g_launches.size() != 1) Fail("doesn't launch the kernel once");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (g_launches[0].pointers[i] != tensors[i].data_ptr())
      Fail("pointer " + std::to_string(i + 1) + " of the launcher is another tensor's");
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (g_launches[0].numbers[i] != numbers[i])
      Fail("number " + std::to_string(i + 1) + " of the launcher is " + std::to_string(g_launches[0].numbers[i]) +
           " instead of " + std::to_string(numbers[i]));
  }
}

// TORCH_CHECK must stop this call.
inline void MustRefuse(torch::Operator& op, const std::string& what, std::vector<torch::Argument> arguments) {
  g_launches.clear();
  bool refused = false;
  try {
    op.call(op.function, arguments);
  } catch (const std::exception&) {
    refused = true;
  }
  if (!g_launches.empty()) Fail(what + ": launches the kernel for tensors that it should refuse");
  if (!refused) Fail(what + " isn't refused");
}

// What is wrong with one tensor: its device, its layout, its type.
inline void MustRefuseVariants(torch::Operator& op, const std::vector<torch::Argument>& good, size_t which) {
  std::vector<torch::Argument> call = good;
  const torch::Tensor& tensor = good[which].tensor;
  call[which] = tensor.OnCpu();
  MustRefuse(op, "a tensor in the host's memory", call);
  call[which] = tensor.Strided();
  MustRefuse(op, "a tensor that isn't contiguous", call);
  call[which] = torch::Tensor(torch::kInt, tensor.sizes());
  MustRefuse(op, "a tensor of integers", call);
}

inline int Finish() {
  puts("all tests passed");
  return 0;
}
