// SPDX-License-Identifier: Apache-2.0
// c = a transpose(b) with bytes in and integers out by mma.sync.m16n8k32; k a multiple of 32.
#include "program.cuh"

__global__ void Gemm(const signed char* a, const signed char* b, int* c, int n, int k) {
  const int group = threadIdx.x / 4, t = threadIdx.x % 4;
  const int* a0 = reinterpret_cast<const int*>(a + (blockIdx.y * 16 + group) * k);
  const int* a1 = reinterpret_cast<const int*>(a + (blockIdx.y * 16 + group + 8) * k);
  const int* bt = reinterpret_cast<const int*>(b + (blockIdx.x * 8 + group) * k);
  int d[4] = {};
  for (int i = t; i < k / 4; i += 8) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a0[i]), "r"(a1[i]), "r"(a0[i + 4]), "r"(a1[i + 4]), "r"(bt[i]), "r"(bt[i + 4]));
  }
  c += (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + t * 2;
  c[0] = d[0], c[1] = d[1], c[8 * n] = d[2], c[8 * n + 1] = d[3];
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  std::vector<signed char> a(m * k), b(n * k);
  for (signed char& v : a) v = static_cast<signed char>(random.Below(256) - 128);
  for (signed char& v : b) v = static_cast<signed char>(random.Below(256) - 128);
  std::vector<int> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += a[i * k + l] * b[j * k + l];
  Device<signed char> da(a), db(b);
  Device<int> c(m * n);
  Gemm<<<dim3(n / 8, m / 16), 32>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 0);
}
int main() {
  const bool ok = Test(16, 8, 32) && Test(32, 24, 160);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
