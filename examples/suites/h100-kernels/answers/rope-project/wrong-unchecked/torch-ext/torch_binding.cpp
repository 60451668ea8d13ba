#include "torch_binding.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>
#include <stdint.h>

#include "registration.h"

namespace {

void check_tensor(const torch::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(tensor.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(tensor.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(tensor.scalar_type() == type, "a tensor has another type");
}

}  // namespace

void rope_inplace(torch::Tensor& x, const torch::Tensor& positions, const torch::Tensor& cos,
                  const torch::Tensor& sin) {
  check_tensor(x, at::kFloat);
  check_tensor(positions, at::kLong);
  check_tensor(cos, at::kFloat);
  check_tensor(sin, at::kFloat);
  TORCH_CHECK(x.dim() == 3 && x.size(2) % 2 == 0, "x must have the shape [tokens, heads, 2 half]");
  TORCH_CHECK(positions.dim() == 1 && positions.size(0) == x.size(0), "there must be a position for each token");
  TORCH_CHECK(cos.dim() == 2 && cos.size(1) * 2 == x.size(2), "cos must have the shape [longest, half]");
  const c10::cuda::CUDAGuard guard(x.device());
  launch_rope_inplace(x.data_ptr<float>(), positions.data_ptr<int64_t>(), cos.data_ptr<float>(),
                      sin.data_ptr<float>(), static_cast<int>(x.size(0)), static_cast<int>(x.size(1)),
                      static_cast<int>(x.size(2) / 2), at::cuda::getCurrentCUDAStream());
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("rope_inplace(Tensor! x, Tensor positions, Tensor cos, Tensor sin) -> ()");
  ops.impl("rope_inplace", torch::kCUDA, &rope_inplace);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
