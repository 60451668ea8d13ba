// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=12,13 words=the integers start behind an odd number of bytes of dynamic shared memory
#include "program.cuh"

__global__ void Count(const int* in, int* out, int n) {
  extern __shared__ __align__(16) unsigned char memory[];
  unsigned char* flags = memory;
  int* values = reinterpret_cast<int*>(memory + n);
  const int t = threadIdx.x;
  if (t < n) {
    flags[t] = in[t] > 50;
    values[t] = in[t];
    if (flags[t]) atomicAdd(out, values[t]);
  }
}
int main() {
  const int n = 61;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    if (in[i] > 50) expected[0] += in[i];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Count<<<1, 64, 5 * n>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
