// SPDX-License-Identifier: Apache-2.0
// function: softmax
// honest: a block a row, with a tree in shared memory
#include <cuda_runtime.h>

__global__ void Softmax(const float* in, float* out, int cols) {
  __shared__ float v[128];
  const int t = threadIdx.x;
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = t; i < cols; i += 128) largest = fmaxf(largest, in[i]);
  v[t] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) v[t] = fmaxf(v[t], v[t + half]);
    __syncthreads();
  }
  largest = v[0];
  __syncthreads();
  for (int i = t; i < cols; i += 128) sum += expf(in[i] - largest);
  v[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) v[t] += v[t + half];
    __syncthreads();
  }
  sum = v[0];
  for (int i = t; i < cols; i += 128) out[i] = expf(in[i] - largest) / sum;
}
void launch_softmax(const float* in, float* out, int rows, int cols) { Softmax<<<rows, 128>>>(in, out, cols); }
