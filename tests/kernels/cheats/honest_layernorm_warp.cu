// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: a warp a row, two passes
#include <cuda_runtime.h>

__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  for (int i = threadIdx.x; i < cols; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
  const float scale = rsqrtf(squares / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  LayerNorm<<<rows, 32>>>(in, gamma, beta, out, cols);
}
