// SPDX-License-Identifier: Apache-2.0
// function: softmax
// honest: maximum and sum in one pass, by a thread a row
#include <cuda_runtime.h>

__global__ void Softmax(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  in += static_cast<size_t>(row) * cols;
  out += static_cast<size_t>(row) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = 0; i < cols; ++i) {
    const float next = fmaxf(largest, in[i]);
    sum = sum * expf(largest - next) + expf(in[i] - next);
    largest = next;
  }
  for (int i = 0; i < cols; ++i) out[i] = expf(in[i] - largest) / sum;
}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  Softmax<<<(rows + 31) / 32, 32>>>(in, out, rows, cols);
}
