#include "torch_binding.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>
#include <cuda_fp16.h>

#include "registration.h"

namespace {

void check_tensor(const torch::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(tensor.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(tensor.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(tensor.scalar_type() == type, "a tensor has another type");
}

}  // namespace

void fused_geglu(torch::Tensor& out, const torch::Tensor& x) {
  check_tensor(out, at::kHalf);
  check_tensor(x, at::kHalf);
  TORCH_CHECK(x.dim() == 2 && out.dim() == 2, "x and out must have two dimensions");
  TORCH_CHECK(out.size(0) == x.size(0) && out.size(1) * 2 == x.size(1), "out must have half of the columns of x");
  const c10::cuda::CUDAGuard guard(x.device());
  launch_fused_geglu(static_cast<const __half*>(x.data_ptr()), static_cast<__half*>(out.data_ptr()),
                     static_cast<int>(out.size(0)), static_cast<int>(out.size(1)),
                     at::cuda::getCurrentCUDAStream());
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("fused_geglu(Tensor! out, Tensor x) -> ()");
  ops.impl("fused_geglu", torch::kCPU, &fused_geglu);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
