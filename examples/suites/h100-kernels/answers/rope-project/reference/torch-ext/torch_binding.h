#pragma once

#include <cuda_runtime.h>
#include <torch/torch.h>
#include <stdint.h>

void launch_rope_inplace(float* x, const int64_t* positions, const float* cos, const float* sin, int tokens, int heads,
                         int half, cudaStream_t stream);

void rope_inplace(torch::Tensor& x, const torch::Tensor& positions, const torch::Tensor& cos,
                  const torch::Tensor& sin);
