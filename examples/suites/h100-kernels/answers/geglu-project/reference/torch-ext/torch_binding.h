#pragma once

#include <cuda_runtime.h>
#include <torch/torch.h>
#include <cuda_fp16.h>

void launch_fused_geglu(const __half* x, __half* out, int rows, int cols, cudaStream_t stream);

void fused_geglu(torch::Tensor& out, const torch::Tensor& x);
