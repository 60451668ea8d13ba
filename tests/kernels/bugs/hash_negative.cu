// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=9 words=the remainder of a negative hash is negative
#include "program.cuh"

__global__ void Count(const int* in, int* out, int n, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int hash = static_cast<int>(static_cast<unsigned>(in[i]) * 2654435761u);
  atomicAdd(&out[hash % size], 1);
}
int main() {
  const int n = 300;
  Random random(n);
  std::vector<int> in(n), expected(16);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    ++expected[static_cast<int>(static_cast<unsigned>(in[i]) * 2654435761u % 16)];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Count<<<3, 128>>>(din, out, n, 16);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
