// SPDX-License-Identifier: Apache-2.0
// c = a b in half precision by mma.sync.m16n8k16, the fragments gathered from global memory as the layout asks.
#include "program.cuh"
#include <cuda_fp16.h>

__device__ unsigned Pair(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}
__global__ void Gemm(const __half* a, const __half* b, float* c, int n, int k) {
  const int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
  a += (blockIdx.y * 16 + group) * k + pair;
  b += pair * n + blockIdx.x * 8 + group;
  float d[4] = {};
  for (int i = 0; i < k; i += 16) {
    const unsigned a0 = Pair(a[i], a[i + 1]), a1 = Pair(a[8 * k + i], a[8 * k + i + 1]);
    const unsigned a2 = Pair(a[i + 8], a[i + 9]), a3 = Pair(a[8 * k + i + 8], a[8 * k + i + 9]);
    const unsigned b0 = Pair(b[i * n], b[(i + 1) * n]), b1 = Pair(b[(i + 8) * n], b[(i + 9) * n]);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  c += (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + pair;
  c[0] = d[0], c[1] = d[1], c[8 * n] = d[2], c[8 * n + 1] = d[3];
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  std::vector<__half> a(m * k), b(k * n);
  for (auto& v : a) v = __float2half(random.Uniform());
  for (auto& v : b) v = __float2half(random.Uniform());
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * n + j] += double(__half2float(a[i * k + l])) * __half2float(b[l * n + j]);
  Device<__half> da(a), db(b);
  Device<float> c(m * n);
  Gemm<<<dim3(n / 8, m / 16), 32>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(16, 8, 16) && Test(32, 24, 80);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
