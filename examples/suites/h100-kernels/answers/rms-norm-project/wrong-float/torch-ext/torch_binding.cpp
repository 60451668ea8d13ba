#include "torch_binding.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/library.h>
#include <cuda_bf16.h>

#include "registration.h"

namespace {

void check_tensor(const torch::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(tensor.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(tensor.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(tensor.scalar_type() == type, "a tensor has another type");
}

}  // namespace

void fused_rms_norm(torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& weight, float epsilon) {
  for (const torch::Tensor* tensor : {static_cast<const torch::Tensor*>(&out), &x, &weight}) {
    check_tensor(*tensor, at::kBFloat16);
  }
  TORCH_CHECK(x.dim() == 2 && out.sizes() == x.sizes(), "x and out must have one shape [rows, cols]");
  TORCH_CHECK(weight.dim() == 1 && weight.size(0) == x.size(1), "weight must have the shape [cols]");
  const c10::cuda::CUDAGuard guard(x.device());
  launch_fused_rms_norm(static_cast<const __nv_bfloat16*>(x.data_ptr()),
                        static_cast<const __nv_bfloat16*>(weight.data_ptr()),
                        static_cast<__nv_bfloat16*>(out.data_ptr()), static_cast<int>(x.size(0)),
                        static_cast<int>(x.size(1)), static_cast<float>(epsilon),
                        at::cuda::getCurrentCUDAStream());
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("fused_rms_norm(Tensor! out, Tensor x, Tensor weight, float epsilon) -> ()");
  ops.impl("fused_rms_norm", torch::kCUDA, &fused_rms_norm);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
