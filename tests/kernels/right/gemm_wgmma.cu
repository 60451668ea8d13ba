// SPDX-License-Identifier: Apache-2.0
// c = a transpose(b), 64 x 8, by one warp group: a in registers, b in shared memory without swizzle. arch=sm_90a
#include "program.cuh"
#include <cuda_fp16.h>

__device__ unsigned Pair(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}
__global__ void Gemm(const __half* a, const __half* b, float* c, int k) {
  __shared__ __align__(128) __half bs[2][8][8];  // two core matrices of 8 rows by 16 bytes
  const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, pair = t % 4 * 2;
  const uint64_t address = static_cast<uint64_t>(__cvta_generic_to_shared(bs));
  const uint64_t descriptor = (address & 0x3ffff) >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
  float d[4] = {};
  for (int i = 0; i < k; i += 16) {
    bs[t / 64][t % 64 / 8][t % 8] = b[t % 64 / 8 * k + i + t / 64 * 8 + t % 8];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const __half *top = a + row * k + i + pair, *bottom = top + 8 * k;
    const unsigned a0 = Pair(top[0], top[1]), a1 = Pair(bottom[0], bottom[1]), a2 = Pair(top[8], top[9]),
                   a3 = Pair(bottom[8], bottom[9]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(descriptor));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    __syncthreads();
  }
  float* to = c + row * 8 + pair;
  to[0] = d[0], to[1] = d[1], to[64] = d[2], to[65] = d[3];
}
bool Test(int k) {
  Random random(k);
  std::vector<__half> a(64 * k), b(8 * k);
  for (auto& v : a) v = __float2half(random.Uniform());
  for (auto& v : b) v = __float2half(random.Uniform());
  std::vector<double> expected(64 * 8);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * 8 + j] += double(__half2float(a[i * k + l])) * __half2float(b[j * k + l]);
  Device<__half> da(a), db(b);
  Device<float> c(64 * 8);
  Gemm<<<1, 128>>>(da, db, c, k);
  return Equal(c.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(16) && Test(48);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
