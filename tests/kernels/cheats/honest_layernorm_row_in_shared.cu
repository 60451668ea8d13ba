// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: the row is kept in dynamic shared memory
#include <cuda_runtime.h>

__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols) {
  extern __shared__ float row[];
  for (int i = threadIdx.x; i < cols; i += 64) row[i] = in[static_cast<size_t>(blockIdx.x) * cols + i];
  __syncthreads();
  float sum = 0, squares = 0;
  for (int i = 0; i < cols; ++i) sum += row[i];
  const float mean = sum / cols;
  for (int i = 0; i < cols; ++i) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(squares / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 64)
    out[static_cast<size_t>(blockIdx.x) * cols + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  LayerNorm<<<rows, 64, cols * sizeof(float)>>>(in, gamma, beta, out, cols);
}
