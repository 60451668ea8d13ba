// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=19 words=40 KB static and 12 KB dynamic shared memory without cudaFuncSetAttribute: no launch
#include "program.cuh"

__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float held[10240];
  extern __shared__ float more[];
  float sum = 0;
  for (int i = threadIdx.x; i < 10240; i += blockDim.x) held[i] = i < n ? in[i] : 0;
  for (int i = threadIdx.x; i < 3072; i += blockDim.x) more[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) sum += held[i] + more[i % 3072];
    *out = sum;
  }
}
int main() {
  Device<float> in(std::vector<float>(100, 1.0f)), out(std::vector<float>(1, 0.0f));
  Sum<<<1, 128, 3072 * sizeof(float)>>>(in, out, 100);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
