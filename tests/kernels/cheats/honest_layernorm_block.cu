// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: a block a row with atomics in shared memory
#include <cuda_runtime.h>

__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols) {
  __shared__ float total[2];
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  if (threadIdx.x < 2) total[threadIdx.x] = 0;
  __syncthreads();
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < cols; i += 96) sum += in[i];
  atomicAdd(&total[0], sum);
  __syncthreads();
  const float mean = total[0] / cols;
  for (int i = threadIdx.x; i < cols; i += 96) squares += (in[i] - mean) * (in[i] - mean);
  atomicAdd(&total[1], squares);
  __syncthreads();
  const float scale = 1 / sqrtf(total[1] / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 96) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  LayerNorm<<<rows, 96>>>(in, gamma, beta, out, cols);
}
