// SPDX-License-Identifier: Apache-2.0
// c = a b in bfloat16 by mma.sync.m16n8k16; a by ldmatrix, b by ldmatrix.trans from shared memory.
#include "program.cuh"
#include <cuda_bf16.h>

__global__ void Gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  __shared__ __align__(16) __nv_bfloat16 as[16][24];
  __shared__ __align__(16) __nv_bfloat16 bs[16][8];
  const int lane = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {};
  for (int first = 0; first < k; first += 16) {
    for (int i = lane; i < 256; i += 32) as[i / 16][i % 16] = a[(row + i / 16) * k + first + i % 16];
    for (int i = lane; i < 128; i += 32) bs[i / 8][i % 8] = b[(first + i / 8) * n + col + i % 8];
    __syncwarp();
    unsigned fa[4], fb[2];
    const unsigned pa = static_cast<unsigned>(__cvta_generic_to_shared(&as[lane % 16][lane / 16 * 8]));
    const unsigned pb = static_cast<unsigned>(__cvta_generic_to_shared(&bs[lane % 16][0]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(pa)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(pb)
                 : "memory");
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncwarp();
  }
  float* to = c + (row + lane / 4) * n + col + lane % 4 * 2;
  to[0] = d[0], to[1] = d[1], to[8 * n] = d[2], to[8 * n + 1] = d[3];
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  std::vector<__nv_bfloat16> a(m * k), b(k * n);
  for (auto& v : a) v = __float2bfloat16(random.Uniform());
  for (auto& v : b) v = __float2bfloat16(random.Uniform());
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * n + j] += double(__bfloat162float(a[i * k + l])) * __bfloat162float(b[l * n + j]);
  Device<__nv_bfloat16> da(a), db(b);
  Device<float> c(m * n);
  Gemm<<<dim3(n / 8, m / 16), 32>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(16, 8, 16) && Test(48, 40, 64);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
