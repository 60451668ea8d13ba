// SPDX-License-Identifier: Apache-2.0
// c = a b in TF32: floats rounded to 10 bits of mantissa, multiplied by mma.sync.m16n8k8.
#include "program.cuh"

__device__ unsigned Tf32(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return bits;
}
__global__ void Gemm(const float* a, const float* b, float* c, int n, int k) {
  const int group = threadIdx.x / 4, t = threadIdx.x % 4;
  a += (blockIdx.y * 16 + group) * k + t;
  b += t * n + blockIdx.x * 8 + group;
  float d[4] = {};
  for (int i = 0; i < k; i += 8) {
    const unsigned a0 = Tf32(a[i]), a1 = Tf32(a[8 * k + i]), a2 = Tf32(a[i + 4]), a3 = Tf32(a[8 * k + i + 4]);
    const unsigned b0 = Tf32(b[i * n]), b1 = Tf32(b[(i + 4) * n]);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  c += (blockIdx.y * 16 + group) * n + blockIdx.x * 8 + t * 2;
  c[0] = d[0], c[1] = d[1], c[8 * n] = d[2], c[8 * n + 1] = d[3];
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  const std::vector<float> a = random.Values(m * k), b = random.Values(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  Device<float> da(a), db(b), c(m * n);
  Gemm<<<dim3(n / 8, m / 16), 32>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 5e-3);
}
int main() {
  const bool ok = Test(16, 8, 8) && Test(32, 40, 56);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
