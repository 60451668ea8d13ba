// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,10 words=no barrier between the stores of the values and the tree that reads them
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  __shared__ float v[128];
  const int t = threadIdx.x;
  v[t] = in[blockIdx.x * 128 + t];
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) v[t] += v[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, v[0]);
}
int main() {
  const int n = 512;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<4, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
