// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=14,15 words=the sum overwrites the maximum that other warps haven't read yet
#include "program.cuh"

__global__ void Softmax(const float* in, float* out) {
  __shared__ float v[128];
  const int t = threadIdx.x;
  v[t] = in[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) v[t] = fmaxf(v[t], v[t + half]);
    __syncthreads();
  }
  const float e = expf(in[t] - v[0]);
  v[t] = e;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) v[t] += v[t + half];
    __syncthreads();
  }
  out[t] = e / v[0];
}
int main() {
  const std::vector<float> in = Random(7).Values(128);
  std::vector<double> expected;
  double sum = 0;
  for (float v : in) sum += std::exp(double(v));
  for (float v : in) expected.push_back(std::exp(double(v)) / sum);
  Device<float> din(in), out(128);
  Softmax<<<1, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
