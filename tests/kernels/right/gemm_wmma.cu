// SPDX-License-Identifier: Apache-2.0
// c = a b, half in, float out, by the matrix units through nvcuda::wmma: a warp an output tile of 16 x 16.
#include "program.cuh"
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
__global__ void Gemm(const __half* a, const __half* b, float* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  const int row = blockIdx.y * 16, col = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + row * k + i, k);
    wmma::load_matrix_sync(fb, b + i * n + col, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * n + col, sum, n, wmma::mem_row_major);
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
  Gemm<<<dim3(n / 32, m / 16), dim3(32, 2)>>>(da, db, c, n, k);
  return Equal(c.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(16, 32, 16) && Test(48, 64, 80);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
