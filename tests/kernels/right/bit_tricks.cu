// SPDX-License-Identifier: Apache-2.0
// Counting, reversing, permuting and shifting bits, and dot products of four bytes.
#include "program.cuh"

__global__ void Tricks(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = a[i], y = b[i];
  unsigned* to = out + 10 * i;
  to[0] = __popc(x);
  to[1] = __clz(x);
  to[2] = __ffs(x);
  to[3] = __brev(x);
  to[4] = __byte_perm(x, y, 0x7210);
  to[5] = __funnelshift_l(x, y, y & 31);
  to[6] = __dp4a(static_cast<int>(x), static_cast<int>(y), -5);
  to[7] = (x & y) ^ (~x | y);
  to[8] = __umulhi(x, y);
  to[9] = static_cast<unsigned>(static_cast<int>(x) >> (y & 31));
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned> a(n), b(n), expected;
  for (int i = 0; i < n; ++i) {
    const unsigned x = a[i] = i == 0 ? 0 : random.Bits() >> random.Below(32), y = b[i] = random.Bits();
    unsigned count = 0, leading = 32, first = 0, reversed = 0;
    for (int j = 0; j < 32; ++j) {
      if ((x >> j & 1) == 0) continue;
      ++count;
      leading = 31 - j;
      if (first == 0) first = j + 1;
      reversed |= 1u << (31 - j);
    }
    int dot = -5;
    for (int j = 0; j < 32; j += 8) dot += static_cast<signed char>(x >> j) * static_cast<signed char>(y >> j);
    const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
    for (unsigned v : {count, leading, first, reversed, (x & 0xffffffu) | (y & 0xff000000u),
                       static_cast<unsigned>(both << (y & 31) >> 32), static_cast<unsigned>(dot), (x & y) ^ (~x | y),
                       static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32),
                       static_cast<unsigned>(static_cast<int64_t>(static_cast<int>(x)) >> (y & 31))})
      expected.push_back(v);
  }
  Device<unsigned> da(a), db(b), out(10 * n);
  Tricks<<<(n + 63) / 64, 64>>>(da, db, out, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
