#pragma once

#include <cuda_runtime.h>
#include <torch/torch.h>

void launch_fused_bias_gelu(const float* x, const float* bias, float* out, int rows, int cols, cudaStream_t stream);

void fused_bias_gelu(torch::Tensor& out, const torch::Tensor& x, const torch::Tensor& bias);
