// SPDX-License-Identifier: Apache-2.0
// Sums, products, maxima of pairs of bfloat16, converted from and to float.
#include "program.cuh"
#include <cuda_bf16.h>

// out = max(a * b, a + b), by pairs; n is even.
__global__ void Combine(const __nv_bfloat162* a, const __nv_bfloat162* b, float2* out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const __nv_bfloat162 product = __hmul2(a[i], b[i]), sum = __hadd2(a[i], b[i]);
  out[i] = __bfloat1622float2(__hmax2(product, sum));
}
bool Test(int pairs) {
  Random random(pairs);
  std::vector<__nv_bfloat162> a(pairs), b(pairs);
  std::vector<double> expected(2 * pairs);
  for (int i = 0; i < pairs; ++i) {
    a[i] = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
    b[i] = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
    const float x[] = {__bfloat162float(a[i].x), __bfloat162float(a[i].y)};
    const float y[] = {__bfloat162float(b[i].x), __bfloat162float(b[i].y)};
    for (int j = 0; j < 2; ++j) expected[2 * i + j] = std::fmax(double(x[j]) * y[j], double(x[j]) + y[j]);
  }
  Device<__nv_bfloat162> da(a), db(b);
  Device<float2> out(pairs);
  Combine<<<(pairs + 63) / 64, 64>>>(da, db, out, pairs);
  const std::vector<float2> got = out.Host();
  std::vector<float> values(2 * pairs);
  for (int i = 0; i < pairs; ++i) values[2 * i] = got[i].x, values[2 * i + 1] = got[i].y;
  return Equal(values, expected, 4e-3);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(700);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
