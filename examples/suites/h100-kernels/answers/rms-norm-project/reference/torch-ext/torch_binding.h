#pragma once

#include <cuda_runtime.h>
#include <torch/torch.h>
#include <cuda_bf16.h>

void launch_fused_rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* out, int rows, int cols,
                           float epsilon, cudaStream_t stream);

void fused_rms_norm(torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& weight, double epsilon);
