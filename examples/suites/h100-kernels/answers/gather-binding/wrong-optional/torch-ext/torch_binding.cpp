#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/all.h>
#include <torch/library.h>

#include <optional>

#include "../kernels/kernels.h"
#include "registration.h"

torch::Tensor gather_rows(const torch::Tensor& table, const torch::Tensor& index,
                          const torch::Tensor& weights) {
  TORCH_CHECK(table.is_cuda() && index.is_cuda(), "tensors must be on the GPU");
  TORCH_CHECK(table.device() == index.device(), "table and index must be on the same device");
  TORCH_CHECK(table.is_contiguous() && index.is_contiguous(), "tensors must be contiguous");
  TORCH_CHECK(table.scalar_type() == at::kHalf && table.dim() == 2, "table must be float16 [rows, cols]");
  TORCH_CHECK(index.scalar_type() == at::kLong && index.dim() == 1, "index must be int64 [count]");
  if (weights.defined()) {
    TORCH_CHECK(weights.device() == table.device() && weights.is_contiguous() &&
                    weights.scalar_type() == at::kFloat && weights.sizes() == index.sizes(),
                "weights must be contiguous float32 [count] on the same device");
  }
  const c10::cuda::CUDAGuard guard(table.device());
  torch::Tensor out = torch::empty({index.size(0), table.size(1)}, table.options());
  launch_gather_rows(reinterpret_cast<const __half*>(table.data_ptr<at::Half>()), index.data_ptr<int64_t>(),
                     weights.defined() ? weights.data_ptr<float>() : nullptr,
                     reinterpret_cast<__half*>(out.data_ptr<at::Half>()), index.size(0), table.size(1),
                     at::cuda::getCurrentCUDAStream());
  return out;
}

TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  ops.def("gather_rows(Tensor table, Tensor index, Tensor? weights=None) -> Tensor");
  ops.impl("gather_rows", torch::kCUDA, &gather_rows);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
