#include "torch_binding.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>

#include "registration.h"

namespace {

void check_tensor(const torch::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(tensor.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(tensor.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(tensor.scalar_type() == type, "a tensor has another type");
}

}  // namespace

void fused_bias_gelu(torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& bias) {
  check_tensor(out, at::kFloat);
  check_tensor(x, at::kFloat);
  check_tensor(bias, at::kFloat);
  TORCH_CHECK(x.dim() == 2 && out.sizes() == x.sizes(), "x and out must have one shape [rows, cols]");
  TORCH_CHECK(bias.dim() == 1 && bias.size(0) == x.size(1), "bias must have the shape [cols]");
  const c10::cuda::CUDAGuard guard(x.device());
  launch_fused_bias_gelu(x.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
                         static_cast<int>(x.size(0)), static_cast<int>(x.size(1)),
                         at::cuda::getCurrentCUDAStream());
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("fused_bias_gelu(Tensor! out, Tensor x, Tensor bias) -> ()");
  ops.impl("fused_bias_gelu", torch::kCUDA, &fused_bias_gelu);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
