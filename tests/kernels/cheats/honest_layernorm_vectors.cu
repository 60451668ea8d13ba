// SPDX-License-Identifier: Apache-2.0
// function: layernorm
// honest: four elements at a time where rows are aligned, with occupancy asked for
#include <cuda_runtime.h>

#include <cstdint>

__device__ float Reduced(float value, float* shared) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) sum += shared[warp];
  return sum;
}
__global__ void Norm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  extern __shared__ float shared[];
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    const float* x = in + static_cast<size_t>(r) * cols;
    float* y = out + static_cast<size_t>(r) * cols;
    const int vectors = reinterpret_cast<uintptr_t>(x) % 16 == 0 ? cols / 4 : 0;
    float sum = 0;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
      const float4 four = reinterpret_cast<const float4*>(x)[v];
      sum += four.x + four.y + four.z + four.w;
    }
    for (int c = 4 * vectors + threadIdx.x; c < cols; c += blockDim.x) sum += x[c];
    const float mean = Reduced(sum, shared) / cols;
    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(Reduced(squares, shared) / cols + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
  }
}
void launch_layernorm(const float* in, const float* gamma, const float* beta, float* out, int rows, int cols) {
  int device = 0, processors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Norm, 96, 12);
  const int most = processors * blocks < 1 ? 1 : processors * blocks;
  Norm<<<rows < most ? rows : most, 96, 12>>>(in, gamma, beta, out, rows, cols);
}
