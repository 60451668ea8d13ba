// SPDX-License-Identifier: Apache-2.0
// bug: kind=missing-wait line=16 words=__pipeline_wait_prior leaves the stage in use pending
#include "program.cuh"
#include <cuda_pipeline.h>

__global__ void Copy(const float* in, float* out, int steps) {
  __shared__ float tile[2][32];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], in + t, 4);
  __pipeline_commit();
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) __pipeline_memcpy_async(&tile[(step + 1) % 2][t], in + (step + 1) * 32 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    out[step * 32 + t] = tile[step % 2][31 - t];
    __syncthreads();
  }
}
int main() {
  const int n = 96;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i / 32 * 32 + 31 - i % 32];
  Device<float> din(in), out(n);
  Copy<<<1, 32>>>(din, out, n / 32);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
