// SPDX-License-Identifier: Apache-2.0
// A small valid project of Hugging Face's kernel-builder, for tests that change something in it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace upskill {

inline constexpr const char* kValidBuildToml = R"code([general]
name = "fused-rmsnorm"
version = 1
edition = 5
license = "Apache-2.0"
backends = ["cuda", "cpu"]

[general.hub]
repo-id = "some-org/fused-rmsnorm"

[torch]
src = ["torch-ext/torch_binding.cpp", "torch-ext/torch_binding.h"]

[kernel.rmsnorm]
backend = "cuda"
depends = ["torch"]
src = ["rmsnorm_cuda/rmsnorm.cu", "rmsnorm_cuda/reduce.cuh"]
cuda-capabilities = ["8.0", "9.0"]

[kernel.rmsnorm_cpu]
backend = "cpu"
depends = ["torch"]
src = ["rmsnorm_cpu/rmsnorm.cpp"]
)code";

inline std::map<std::string, std::string> ValidKernelProject() {
  return {{"build.toml", kValidBuildToml},
          {"torch-ext/torch_binding.h", R"code(#pragma once
#include <optional>
#include <torch/torch.h>

void rmsnorm(torch::Tensor &out, torch::Tensor const &input, std::optional<torch::Tensor> const &weight,
             double epsilon);
std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy);
)code"},
          {"torch-ext/torch_binding.cpp", R"code(// No PYBIND11_MODULE here, and no <torch/extension.h>.
#include <torch/library.h>

#include "registration.h"
#include "torch_binding.h"

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("rmsnorm(Tensor! out, Tensor input, "
          "Tensor? weight, float epsilon=1e-6) -> ()");
  ops.def("split(Tensor input, int parts, bool copy) -> Tensor[]");
#if defined(CPU_KERNEL)
  ops.impl("rmsnorm", torch::kCPU, &rmsnorm);
  ops.impl("split", torch::kCPU, &split);
#elif defined(CUDA_KERNEL)
  ops.impl("rmsnorm", torch::kCUDA, &rmsnorm);
  ops.impl("split", torch::kCUDA, &split);
#endif
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
)code"},
          {"torch-ext/fused_rmsnorm/__init__.py", R"code("""Not torch.ops.fused_rmsnorm: the build adds a hash."""
import torch

from ._ops import ops
from .layers import RMSNorm


def rmsnorm(x, weight=None, epsilon=1e-6):
    out = torch.empty_like(x)
    ops.rmsnorm(out, x, weight, epsilon)
    return out
)code"},
          {"torch-ext/fused_rmsnorm/layers.py", "import torch\n\n\nclass RMSNorm(torch.nn.Module):\n    pass\n"},
          {"rmsnorm_cuda/reduce.cuh", "#pragma once\n__device__ float block_sum(float value) { return value; }\n"},
          {"rmsnorm_cuda/rmsnorm.cu", R"code(#include <cuda_runtime.h>
#include <torch/all.h>

#include "reduce.cuh"

__global__ void rmsnorm_kernel(float *out, const float *in, int n) { out[0] = block_sum(in[0]) / n; }

void rmsnorm(torch::Tensor &out, torch::Tensor const &input, std::optional<torch::Tensor> const &weight,
             double epsilon) {
  rmsnorm_kernel<<<1, 256>>>(out.data_ptr<float>(), input.data_ptr<float>(), input.numel());
}

std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return {input}; }
)code"},
          {"rmsnorm_cpu/rmsnorm.cpp", R"code(#include <torch/all.h>

void rmsnorm(torch::Tensor &out, torch::Tensor const &input, std::optional<torch::Tensor> const &weight,
             double epsilon) {
  out.copy_(input);
}

std::vector<torch::Tensor> split(torch::Tensor input, int64_t parts, bool copy) { return input.split(parts); }
)code"}};
}

// `files` with the first occurrence of `from` in a file replaced.
inline std::map<std::string, std::string> WithReplaced(std::map<std::string, std::string> files,
                                                       const std::string& file, const std::string& from,
                                                       const std::string& to) {
  std::string& content = files[file];
  const std::size_t at = content.find(from);
  EXPECT_NE(at, std::string::npos) << file << " has no " << from;
  if (at != std::string::npos) content.replace(at, from.size(), to);
  return files;
}

}  // namespace upskill
