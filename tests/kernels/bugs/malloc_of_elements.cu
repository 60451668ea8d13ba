// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=cudaMalloc gets the number of elements where it takes bytes
#include "program.cuh"

__global__ void Fill(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
int main() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 2000));
  Fill<<<16, 128>>>(out, 2000);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(out));
  std::printf("ok\n");
  return 0;
}
