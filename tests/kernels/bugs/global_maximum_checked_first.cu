// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8 words=the plain read before the atomic races with the other blocks' atomics; the result is
// right
#include "program.cuh"

__global__ void Largest(const int* in, int* out) {
  const int v = in[blockIdx.x * 32 + threadIdx.x];
  if (v > *out) atomicMax(out, v);
}
int main() {
  const int n = 256;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] = std::max(expected[0], in[i]);
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Largest<<<8, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
