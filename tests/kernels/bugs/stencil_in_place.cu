// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8 words=neighbours are read from the array that other threads overwrite
#include "program.cuh"

__global__ void Smooth(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1 || i >= n - 1) return;
  x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
int main() {
  const int n = 300;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(in.begin(), in.end());
  for (int i = 1; i < n - 1; ++i) expected[i] = (double(in[i - 1]) + in[i] + in[i + 1]) / 3;
  Device<float> x(in);
  Smooth<<<3, 128>>>(x, n);
  const bool ok = Equal(x.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
