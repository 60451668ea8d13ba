// SPDX-License-Identifier: Apache-2.0
// Differences of neighbours from a tile copied by __pipeline_memcpy_async, the last one zero-filled.
#include "program.cuh"
#include <cuda_pipeline.h>

__global__ void Differences(const float* in, float* out, int n) {
  __shared__ float tile[65];
  const int first = blockIdx.x * 64, t = threadIdx.x;
  for (int j = t; j < 65; j += 64) {
    const bool inside = first + j < n;
    __pipeline_memcpy_async(&tile[j], inside ? &in[first + j] : in, 4, inside ? 0 : 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (first + t < n) out[first + t] = tile[t + 1] - tile[t];
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = (i + 1 < n ? double(in[i + 1]) : 0) - in[i];
  Device<float> din(in), out(n);
  Differences<<<(n + 63) / 64, 64>>>(din, out, n);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(64) && Test(65) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
