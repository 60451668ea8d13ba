// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7,15 words=the consumer block sees the flag, but nothing orders the data before it
#include "program.cuh"

__global__ void Pass(const float* in, volatile int* flag, float* mail, float* out) {
  if (blockIdx.x == 0) {
    mail[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0)
      while (*flag == 0) {
      }
    __syncthreads();
    out[threadIdx.x] = mail[threadIdx.x];
  }
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Device<int> flag(std::vector<int>(1, 0));
  Device<float> mail(64);
  Pass<<<2, 64>>>(din, flag, mail, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
