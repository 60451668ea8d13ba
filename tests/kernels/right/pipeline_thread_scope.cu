// SPDX-License-Identifier: Apache-2.0
// A cuda::pipeline for each thread, two stages: the tile of the next step is on its way while this one is reversed.
#include "program.cuh"

#include <cuda/pipeline>

__global__ void Reverse(const float* in, float* out, int tiles) {
  __shared__ float stages[2][128];
  const int t = threadIdx.x;
  auto pipe = cuda::make_pipeline();
  auto fetch = [&](int tile) {
    pipe.producer_acquire();
    if (tile < tiles) cuda::memcpy_async(&stages[tile % 2][t], in + tile * 128 + t, cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    out[tile * 128 + t] = stages[tile % 2][127 - t];
    __syncthreads();
    pipe.consumer_release();
  }
}
bool Test(int tiles) {
  const std::vector<float> in = Random(tiles).Values(tiles * 128);
  std::vector<float> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = in[i / 128 * 128 + 127 - i % 128];
  Device<float> din(in), out(in.size());
  Reverse<<<1, 128>>>(din, out, tiles);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(9);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
