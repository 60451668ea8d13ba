// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=12 words=cudaFree of memory that cudaMallocHost allocated, and the error is ignored
#include "program.cuh"

__global__ void Fill(float* out) { out[threadIdx.x] = 1; }
int main() {
  float* out = nullptr;
  CHECK(cudaMallocHost(&out, 128 * sizeof(float)));
  Fill<<<1, 128>>>(out);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  cudaFree(out);
  std::printf("ok\n");
  return 0;
}
