// SPDX-License-Identifier: Apache-2.0
// Two pairs of warps work independently, each with a barrier of its own (bar.sync id, 64); then a hand-over by
// bar.arrive.
#include "program.cuh"

__global__ void Pairs(const float* in, float* out, int rounds) {
  __shared__ float values[2][64];
  __shared__ float result[64];
  const int half = threadIdx.x / 64, t = threadIdx.x % 64;
  float v = in[threadIdx.x];
  for (int round = 0; round < rounds + half; ++round) {  // the halves run for different times
    values[half][t] = v;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    v = 0.5f * (v + values[half][(t + round + 1) % 64]);
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  }
  if (half == 0) {
    result[t] = v;
    __threadfence_block();
    asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 3, 128;" ::: "memory");
    out[t] = result[t] + v;
  }
}
bool Test(int rounds) {
  const std::vector<float> in = Random(rounds).Values(128);
  std::vector<double> expected(64);
  for (int half = 0; half < 2; ++half) {
    std::vector<double> v(in.begin() + half * 64, in.begin() + half * 64 + 64);
    for (int round = 0; round < rounds + half; ++round) {
      const std::vector<double> old = v;
      for (int t = 0; t < 64; ++t) v[t] = 0.5 * (old[t] + old[(t + round + 1) % 64]);
    }
    for (int t = 0; t < 64; ++t) expected[t] += v[t];
  }
  Device<float> din(in), out(64);
  Pairs<<<1, 128>>>(din, out, rounds);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(0) && Test(1) && Test(10);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
