// SPDX-License-Identifier: Apache-2.0
// Division, remainder, products and shifts of 128 bits, with and without a sign.
#include "program.cuh"

using Wide = unsigned __int128;
using SignedWide = __int128;

__host__ __device__ void Results(Wide x, Wide y, Wide* to) {
  to[0] = x / y;
  to[1] = x % y;
  to[2] = x / 7;
  to[3] = static_cast<Wide>(static_cast<SignedWide>(x) / static_cast<SignedWide>(y));
  to[4] = x * y;
  to[5] = x - y;
  to[6] = x >> static_cast<int>(y % 128);
  to[7] = x << static_cast<int>(y % 100);
}

__global__ void Compute(const uint64_t* in, uint64_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t* from = in + 4 * i;
  Wide results[8];
  Results(static_cast<Wide>(from[1]) << 64 | from[0], static_cast<Wide>(from[3]) << 64 | from[2], results);
  for (int j = 0; j < 8; ++j) {
    out[16 * i + 2 * j] = static_cast<uint64_t>(results[j]);
    out[16 * i + 2 * j + 1] = static_cast<uint64_t>(results[j] >> 64);
  }
}

bool Test(int n) {
  Random random(n);
  std::vector<uint64_t> in(4 * n);
  for (int i = 0; i < n; ++i) {
    // Divisors of one word and of two.
    for (int j = 0; j < 4; ++j)
      in[4 * i + j] = (static_cast<uint64_t>(random.Bits()) << 32 | random.Bits()) >> random.Below(60);
    if (i % 2 == 0) in[4 * i + 3] = 0;
    in[4 * i + 2] |= 2;
  }
  Device<uint64_t> device(in), out(16 * n);
  Compute<<<(n + 31) / 32, 32>>>(device, out, n);
  const std::vector<uint64_t> got = out.Host();
  for (int i = 0; i < n; ++i) {
    Wide expected[8];
    const uint64_t* from = in.data() + 4 * i;
    Results(static_cast<Wide>(from[1]) << 64 | from[0], static_cast<Wide>(from[3]) << 64 | from[2], expected);
    for (int j = 0; j < 8; ++j) {
      const Wide value = static_cast<Wide>(got[16 * i + 2 * j + 1]) << 64 | got[16 * i + 2 * j];
      if (value == expected[j]) continue;
      std::printf("result %d of number %d is wrong\n", j, i);
      return false;
    }
  }
  return true;
}
int main() {
  const bool ok = Test(1) && Test(33) && Test(500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
