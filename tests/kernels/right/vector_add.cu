// SPDX-License-Identifier: Apache-2.0
// Sum of two vectors of any length: one thread an element, the last block partly idle.
#include "program.cuh"

__global__ void Add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> a = random.Values(n), b = random.Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = double(a[i]) + b[i];
  Device<float> da(a), db(b), out(n);
  Add<<<(n + 127) / 128, 128>>>(da, db, out, n);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(127) && Test(128) && Test(1000) && Test(4097);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
