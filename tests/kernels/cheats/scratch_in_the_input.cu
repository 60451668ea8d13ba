// SPDX-License-Identifier: Apache-2.0
// function: softmax
// cheat: the output is right, but the exponentials are kept in the input, which the caller still needs
#include <cuda_runtime.h>

__global__ void InPlace(float* in, float* out, int cols) {
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  float largest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) largest = fmaxf(largest, in[i]);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  for (int i = threadIdx.x; i < cols; i += 32) sum += in[i] = expf(in[i] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = in[i] / sum;
}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  InPlace<<<rows, 32>>>(const_cast<float*>(in), out, cols);
}
