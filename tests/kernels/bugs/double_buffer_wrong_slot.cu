// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=12,13 words=the next tile is stored into the buffer in use, not into the other one
#include "program.cuh"

__global__ void Reverse(const float* in, float* out, int tiles) {
  __shared__ float buffer[2][64];
  const int t = threadIdx.x;
  buffer[0][t] = in[t];
  __syncthreads();
  for (int tile = 0; tile < tiles; ++tile) {
    const float next = tile + 1 < tiles ? in[(tile + 1) * 64 + t] : 0;
    out[tile * 64 + t] = buffer[tile % 2][63 - t];
    buffer[tile % 2][t] = next;
    __syncthreads();
    buffer[(tile + 1) % 2][t] = buffer[tile % 2][t];
    __syncthreads();
  }
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i / 64 * 64 + 63 - i % 64];
  Device<float> din(in), out(n);
  Reverse<<<1, 64>>>(din, out, n / 64);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
