// SPDX-License-Identifier: Apache-2.0
// Horner's scheme and square roots in double precision, exact to a few ulps.
#include "program.cuh"

__global__ void Evaluate(const double* x, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = 0;
  for (int k = 9; k >= 0; --k) value = fma(value, x[i], 1.0 / (k + 1));
  out[i] = sqrt(fabs(value)) / (1.0 + x[i] * x[i]);
}
bool Test(int n) {
  Random random(n);
  std::vector<double> x(n), expected(n);
  for (int i = 0; i < n; ++i) {
    x[i] = random.Uniform() * 2.0;
    double value = 0;
    for (int k = 9; k >= 0; --k) value = value * x[i] + 1.0 / (k + 1);
    expected[i] = std::sqrt(std::fabs(value)) / (1.0 + x[i] * x[i]);
  }
  Device<double> dx(x), out(n);
  Evaluate<<<(n + 63) / 64, 64>>>(dx, out, n);
  return Equal(out.Host(), expected, 1e-12);
}
int main() {
  const bool ok = Test(1) && Test(63) && Test(1025);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
