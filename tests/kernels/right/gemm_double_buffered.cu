// SPDX-License-Identifier: Apache-2.0
// c = a b with two buffers: while one is multiplied, cp.async fills the other. Sizes are multiples of 16.
#include "program.cuh"

__device__ void Copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
__global__ void Gemm(const float* a, const float* b, float* c, int n, int k) {
  __shared__ __align__(16) float as[2][16][16];
  __shared__ __align__(16) float bs[2][16][16];
  const int t = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 16;
  const int y = t % 64 / 4, x = t % 4 * 4;  // what a thread copies: the first 64 of a, the next 64 of b
  const int steps = k / 16;
  auto load = [&](int step) {
    if (t < 64)
      Copy16(&as[step % 2][y][x], a + (row + y) * k + step * 16 + x);
    else if (t < 128)
      Copy16(&bs[step % 2][y][x], b + (step * 16 + y) * n + col + x);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  load(0);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) {
      load(step + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[step % 2][threadIdx.y][i] * bs[step % 2][i][threadIdx.x];
    __syncthreads();
  }
  c[(row + threadIdx.y) * n + col + threadIdx.x] = sum;
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  const std::vector<float> a = random.Values(m * k), b = random.Values(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  Device<float> da(a), db(b), c(m * n);
  Gemm<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(16, 16, 16) && Test(32, 48, 80) && Test(48, 16, 112);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
