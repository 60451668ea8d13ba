// SPDX-License-Identifier: Apache-2.0
// c = a b + c in half precision, two elements an instruction, with a single last element at odd sizes.
#include "program.cuh"
#include <cuda_fp16.h>

__global__ void MultiplyAdd(const __half* a, const __half* b, __half* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    const __half2 x = reinterpret_cast<const __half2*>(a)[i], y = reinterpret_cast<const __half2*>(b)[i];
    reinterpret_cast<__half2*>(c)[i] = __hfma2(x, y, reinterpret_cast<__half2*>(c)[i]);
  }
  if (i == 0 && n % 2 == 1) c[n - 1] = __hfma(a[n - 1], b[n - 1], c[n - 1]);
}
bool Test(int n) {
  Random random(n);
  std::vector<__half> a(n), b(n), c(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) {
    a[i] = __float2half(random.Uniform());
    b[i] = __float2half(random.Uniform());
    c[i] = __float2half(random.Uniform());
    expected[i] = double(__half2float(a[i])) * __half2float(b[i]) + __half2float(c[i]);
  }
  Device<__half> da(a), db(b), dc(c);
  MultiplyAdd<<<n / 256 + 1, 128>>>(da, db, dc, n);
  const std::vector<__half> got = dc.Host();
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = __half2float(got[i]);
  return Equal(values, expected, 1e-3);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(257) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
