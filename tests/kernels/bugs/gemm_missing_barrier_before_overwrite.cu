// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=10,11,13 words=the next tiles overwrite those that other warps still multiply
#include "program.cuh"

__global__ void Gemm(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    as[y][x] = a[row * k + first + x];
    bs[y][x] = b[(first + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
  }
  c[row * n + col] = sum;
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
  const bool ok = Test(16, 32, 64);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
