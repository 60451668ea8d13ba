// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=11,17,18 words=the warp loads its fragment from a tile that the other warp still fills
#include "program.cuh"
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;
__global__ void Square(const float* in, float* out) {
  __shared__ __align__(32) __half tile[256];
  const int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) tile[i] = __float2half(in[i]);
  if (t >= 32) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(a, tile, 16);
  wmma::load_matrix_sync(b, tile, 16);
  wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
int main() {
  const std::vector<float> in = Random(7).Values(256);
  std::vector<double> expected(256);
  for (int i = 0; i < 256; ++i)
    for (int k = 0; k < 16; ++k) expected[i] += double(in[i / 16 * 16 + k]) * in[k * 16 + i % 16];
  Device<float> din(in), out(256);
  Square<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-2);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
