// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=6 words=atomics add to memory fresh from cudaMalloc
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  atomicAdd(out, in[blockIdx.x * 64 + threadIdx.x]);
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Device<float> fresh(1);
  Sum<<<2, 64>>>(din, fresh);
  CHECK(cudaMemcpy(out, fresh, sizeof(float), cudaMemcpyDeviceToDevice));
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
