// SPDX-License-Identifier: Apache-2.0
// c = a b: a block has 32 x 32 elements, each of its 64 threads 4 x 4 of them in registers.
#include "program.cuh"

__global__ void __launch_bounds__(64) Gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[8][32], bs[8][32];
  const int t = threadIdx.x, x = t % 8 * 4, y = t / 8 * 4, row = blockIdx.y * 32, col = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int first = 0; first < k; first += 8) {
    for (int i = t; i < 256; i += 64) {
      const int ak = i % 8, am = i / 8, bk = i / 32, bn = i % 32;
      as[ak][am] = row + am < m && first + ak < k ? a[(row + am) * k + first + ak] : 0;
      bs[bk][bn] = first + bk < k && col + bn < n ? b[(first + bk) * n + col + bn] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float av[4], bv[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) av[j] = as[i][y + j], bv[j] = bs[i][x + j];
#pragma unroll
      for (int j = 0; j < 16; ++j) sum[j / 4][j % 4] += av[j / 4] * bv[j % 4];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const int r = row + y + j / 4, s = col + x + j % 4;
    if (r < m && s < n) c[r * n + s] = sum[j / 4][j % 4];
  }
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  const std::vector<float> a = random.Values(m * k), b = random.Values(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  Device<float> da(a), db(b), c(m * n);
  Gemm<<<dim3((n + 31) / 32, (m + 31) / 32), 64>>>(da, db, c, m, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(31, 33, 9) && Test(64, 96, 50);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
