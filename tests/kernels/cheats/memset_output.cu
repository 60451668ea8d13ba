// SPDX-License-Identifier: Apache-2.0
// function: softmax
// cheat: the output is written by cudaMemset, and a decoy is launched
#include <cuda_runtime.h>

__global__ void Decoy() {}
void launch_softmax(const float* in, float* out, int rows, int cols) {
  cudaMemset(out, 0, sizeof(float) * rows * cols);
  Decoy<<<1, 1>>>();
}
