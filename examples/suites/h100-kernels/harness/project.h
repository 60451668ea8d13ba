// SPDX-License-Identifier: Apache-2.0
// What the tests of whole projects need besides harness.h: the operator that torch_binding.cpp registered.
#pragma once

#include "harness.h"
#include "torch_stand_in.h"

inline int g_launches = 0;
inline bool g_expect_launch = true;

inline void Launched(cudaStream_t stream) {
  if (!g_expect_launch) Fail("launches the kernel for tensors that it should refuse");
  if (stream != kCurrentStream) Fail("doesn't launch on PyTorch's current stream");
  ++g_launches;
}

// The operator, whose schema must be this one.
inline torch::Operator& FindOperator(const char* schema, const char* types) {
  snprintf(g_what, sizeof g_what, "binding");
  if (torch::Registrations() != 1) Fail("REGISTER_EXTENSION(TORCH_EXTENSION_NAME) isn't there exactly once");
  const std::string name = torch::Library::NameOf(schema);
  for (torch::Operator& op : torch::Registered().operators) {
    if (torch::Library::NameOf(op.schema) != name) continue;
    if (op.schema != schema) Fail(("schema " + op.schema + " instead of " + schema).c_str());
    if (op.call == nullptr) Fail("the operator has no implementation for CUDA");
    if (op.types != types) Fail(("the function's parameters are " + op.types + "instead of " + types).c_str());
    return op;
  }
  Fail(("no operator " + name).c_str());
}

inline void Call(torch::Operator& op, std::vector<torch::Argument> arguments) {
  const int before = g_launches;
  try {
    op.call(op.function, arguments);
  } catch (const std::exception& error) {
    Fail((std::string("refuses right tensors: ") + error.what()).c_str());
  }
  if (g_launches != before + 1) Fail("doesn't launch the kernel once");
}

// TORCH_CHECK must stop this call.
inline void MustRefuse(torch::Operator& op, const char* what, std::vector<torch::Argument> arguments) {
  Test("refusal of %s", what);
  g_expect_launch = false;
  bool refused = false;
  try {
    op.call(op.function, arguments);
  } catch (const std::exception&) {
    refused = true;
  }
  g_expect_launch = true;
  if (!refused) Fail("isn't refused");
}

// What is wrong with one tensor: its device, its layout, its type.
inline void MustRefuseVariants(torch::Operator& op, const std::vector<torch::Argument>& good, size_t which) {
  std::vector<torch::Argument> call = good;
  const torch::Tensor& tensor = good[which].tensor;
  call[which] = tensor.OnCpu();
  MustRefuse(op, "a tensor in the host's memory", call);
  call[which] = tensor.Strided();
  MustRefuse(op, "a tensor that isn't contiguous", call);
  call[which] = torch::Tensor(tensor.data_ptr(), torch::kInt, tensor.sizes());
  MustRefuse(op, "a tensor of integers", call);
}
