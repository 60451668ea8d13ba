// SPDX-License-Identifier: Apache-2.0
// y = a x + y with fewer threads than elements: each strides through the grid.
#include "program.cuh"

__global__ void Saxpy(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = fmaf(a, x[i], y[i]);
}
bool Test(int n, float a) {
  Random random(n + 7);
  const std::vector<float> x = random.Values(n), y = random.Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = double(a) * x[i] + y[i];
  Device<float> dx(x), dy(y);
  Saxpy<<<3, 96>>>(a, dx, dy, n);
  return Equal(dy.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1, 2.0f) && Test(288, -0.5f) && Test(289, 3.25f) && Test(5003, 0.0f);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
