// SPDX-License-Identifier: Apache-2.0
// c = a b by 16 x 16 tiles in shared memory, zero outside the matrices.
#include "program.cuh"

constexpr int kTile = 16;
__global__ void Gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile + 1];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    as[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    bs[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  const std::vector<float> a = random.Values(m * k), b = random.Values(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  Device<float> da(a), db(b), c(m * n);
  Gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(da, db, c, m, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(17, 33, 5) && Test(48, 64, 70);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
