// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=13 words=shared memory doesn't keep its values from one launch to the next
#include "program.cuh"

__global__ void Load(const float* in) {
  __shared__ float v[64];
  v[threadIdx.x] = in[threadIdx.x];
  if (in[threadIdx.x] > 2) printf("%f\n", v[63 - threadIdx.x / 2 * 2]);
}
__global__ void Use(float* out) {
  __shared__ float v[64];
  if (threadIdx.x > 63) v[threadIdx.x % 64] = 0;
  out[threadIdx.x] = v[threadIdx.x];
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Load<<<1, 64>>>(din);
  Use<<<1, 64>>>(out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
