// SPDX-License-Identifier: Apache-2.0
// 64-bit division, remainder, high products, shifts and counts.
#include "program.cuh"

__global__ void Compute(const int64_t* a, const int64_t* b, int64_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int64_t x = a[i], y = b[i];
  const uint64_t ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  int64_t* to = out + 8 * i;
  to[0] = x / y;
  to[1] = x % y;
  to[2] = __mul64hi(x, y);
  to[3] = static_cast<int64_t>(__umul64hi(ux, uy));
  to[4] = static_cast<int64_t>(ux / uy);
  to[5] = x >> (y & 63);
  to[6] = __popcll(x) * 100 + __clzll(x);
  to[7] = max(x, y) ^ min(x, static_cast<int64_t>(-7));
}
bool Test(int n) {
  Random random(n);
  std::vector<int64_t> a(n), b(n), expected;
  for (int i = 0; i < n; ++i) {
    const uint64_t ux = (static_cast<uint64_t>(random.Bits()) << 32 | random.Bits()) >> random.Below(60);
    const uint64_t uy = (static_cast<uint64_t>(random.Bits()) << 32 | random.Bits()) >> random.Below(60) | 2;
    const int64_t x = a[i] = static_cast<int64_t>(ux), y = b[i] = static_cast<int64_t>(uy);
    int count = 0, leading = 64;
    for (int j = 0; j < 64; ++j)
      if (ux >> j & 1) ++count, leading = 63 - j;
    const int64_t high = static_cast<int64_t>(static_cast<__int128>(x) * y >> 64);
    const uint64_t unsigned_high = static_cast<uint64_t>(static_cast<unsigned __int128>(ux) * uy >> 64);
    for (int64_t v : {x / y, x % y, high, static_cast<int64_t>(unsigned_high), static_cast<int64_t>(ux / uy),
                      x >> (y & 63), int64_t{count * 100 + leading}, std::max(x, y) ^ std::min(x, int64_t{-7})})
      expected.push_back(v);
  }
  Device<int64_t> da(a), db(b), out(8 * n);
  Compute<<<(n + 31) / 32, 32>>>(da, db, out, n);
  const std::vector<int64_t> got = out.Host();
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    std::printf("[%zu]: %lld instead of %lld\n", i, static_cast<long long>(got[i]),
                static_cast<long long>(expected[i]));
    return false;
  }
  return true;
}
int main() {
  const bool ok = Test(1) && Test(33) && Test(500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
