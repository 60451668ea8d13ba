#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/all.h>
#include <torch/library.h>

#include <limits>

#include "../kernels/kernels.h"
#include "registration.h"

namespace {

void check_tensor(const torch::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(tensor.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(tensor.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(tensor.scalar_type() == type, "expected ", type, ", got ", tensor.scalar_type());
}

void affine(torch::Tensor& out, const torch::Tensor& x, double scale, double shift) {
  check_tensor(out, at::kFloat);
  check_tensor(x, at::kFloat);
  TORCH_CHECK(out.sizes() == x.sizes(), "out and x must have the same shape");
  TORCH_CHECK(out.device() == x.device(), "out and x must be on the same device");
  const c10::cuda::CUDAGuard guard(x.device());
  launch_affine(x.data_ptr<float>(), out.data_ptr<float>(), x.numel(), static_cast<float>(scale),
                static_cast<float>(shift), at::cuda::getCurrentStream());
}

void count_values(torch::Tensor& counts, const torch::Tensor& values) {
  check_tensor(counts, at::kInt);
  check_tensor(values, at::kInt);
  TORCH_CHECK(counts.dim() == 1, "counts must have one dimension");
  TORCH_CHECK(counts.size(0) <= std::numeric_limits<int>::max(), "too many bins");
  TORCH_CHECK(counts.device() == values.device(), "counts and values must be on the same device");
  const c10::cuda::CUDAGuard guard(values.device());
  launch_count_values(values.data_ptr<int32_t>(), values.numel(), counts.data_ptr<int32_t>(),
                      static_cast<int>(counts.size(0)), at::cuda::getCurrentStream());
}

}  // namespace

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("affine(Tensor! out, Tensor x, float scale, float shift) -> ()");
  ops.impl("affine", torch::kCUDA, &affine);
  ops.def("count_values(Tensor! counts, Tensor values) -> ()");
  ops.impl("count_values", torch::kCUDA, &count_values);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
