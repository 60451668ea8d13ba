// SPDX-License-Identifier: Apache-2.0
// c = a b where each block has a share of k and adds its part by atomics.
#include "program.cuh"

__global__ void Gemm(const float* a, const float* b, float* c, int m, int n, int k, int share) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = blockIdx.z * share; i < min(k, (static_cast<int>(blockIdx.z) + 1) * share); ++i)
    sum += a[row * k + i] * b[i * n + col];
  atomicAdd(&c[row * n + col], sum);
}
bool Test(int m, int n, int k) {
  Random random(m + n + k);
  const std::vector<float> a = random.Values(m * k), b = random.Values(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) expected[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  Device<float> da(a), db(b), c(m * n);
  CHECK(cudaMemset(c, 0, m * n * sizeof(float)));
  Gemm<<<dim3((n + 15) / 16, (m + 15) / 16, (k + 39) / 40), dim3(16, 16)>>>(da, db, c, m, n, k, 40);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(17, 5, 100) && Test(30, 30, 161);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
