// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=12 words=a second cudaFree of the same memory, whose error is ignored
#include "program.cuh"

__global__ void Fill(float* out) { out[threadIdx.x] = 1; }
int main() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 128 * sizeof(float)));
  Fill<<<1, 128>>>(out);
  CHECK(cudaDeviceSynchronize());
  cudaFree(out);
  cudaFree(out);
  std::printf("ok\n");
  return 0;
}
