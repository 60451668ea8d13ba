// SPDX-License-Identifier: Apache-2.0
// Operations chosen at run time from a table of device functions.
#include "program.cuh"

__device__ float Add(float a, float b) { return a + b; }
__device__ float Multiply(float a, float b) { return a * b; }
__device__ float Larger(float a, float b) { return fmaxf(a, b); }
using Operation = float (*)(float, float);
__device__ Operation operations[3] = {Add, Multiply, Larger};
__global__ void Apply(const float* a, const float* b, const int* which, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = operations[which[i]](a[i], b[i]);
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> a = random.Values(n), b = random.Values(n);
  std::vector<int> which(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) {
    which[i] = random.Below(3);
    expected[i] = which[i] == 0 ? double(a[i]) + b[i] : which[i] == 1 ? double(a[i]) * b[i] : std::fmax(a[i], b[i]);
  }
  Device<float> da(a), db(b), out(n);
  Device<int> dwhich(which);
  Apply<<<(n + 63) / 64, 64>>>(da, db, dwhich, out, n);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
