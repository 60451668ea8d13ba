// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=28 words=cudaFree of what is free already, invalid argument
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
  do {                                                                               \
    const cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                                     \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

__global__ void Fill(float* out) { out[threadIdx.x] = 1; }
int main() {
  float* out = nullptr;
  CHECK(cudaMalloc(&out, 128 * sizeof(float)));
  Fill<<<1, 128>>>(out);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(out));
  CHECK(cudaFree(out));
  std::printf("ok\n");
  return 0;
}
