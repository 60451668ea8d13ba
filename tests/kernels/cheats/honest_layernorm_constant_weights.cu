// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: the weights are copied into constant memory in every call, when they fit
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
__constant__ float weights[2][1024];
__global__ void Constant(const float* in, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  for (int i = threadIdx.x; i < cols; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
  const float scale = rsqrtf(squares / cols + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = (in[i] - mean) * scale * weights[0][i] + weights[1][i];
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  if (cols > 1024) {
    LayerNorm<<<rows, 32>>>(in, gamma, beta, out, cols);
    return;
  }
  cudaMemcpyToSymbol(weights, gamma, sizeof(float) * cols, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbol(weights, beta, sizeof(float) * cols, sizeof(weights[0]), cudaMemcpyDeviceToDevice);
  Constant<<<rows, 32>>>(in, out, cols);
}
