// SPDX-License-Identifier: Apache-2.0
// An estimate of pi by xorshift generators, one a thread; the hits are counted exactly.
#include "program.cuh"

__global__ void Hits(unsigned long long* hits, unsigned* states, int draws) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = states[i];
  auto next = [&] {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state >> 16;
  };
  unsigned long long own = 0;
  for (int d = 0; d < draws; ++d) {
    const unsigned x = next(), y = next();
    own += static_cast<unsigned long long>(x) * x + static_cast<unsigned long long>(y) * y < (1ull << 32);
  }
  atomicAdd(hits, own);
  states[i] = state;
}
bool Test(int blocks, int draws) {
  std::vector<unsigned> states(blocks * 64);
  Random random(draws);
  for (unsigned& s : states) s = random.Bits() | 1;
  Device<unsigned> dstates(states);
  std::vector<uint64_t> expected(1);
  for (unsigned& s : states) {
    auto next = [&s] {
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      return uint64_t{s >> 16};
    };
    for (int d = 0; d < draws; ++d) {
      const uint64_t x = next(), y = next();
      expected[0] += x * x + y * y < (uint64_t{1} << 32);
    }
  }
  Device<unsigned long long> hits(std::vector<unsigned long long>(1, 0));
  Hits<<<blocks, 64>>>(hits, dstates, draws);
  return Equal(hits.Host(), expected, 0) && Equal(dstates.Host(), states, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(3, 50) && Test(2, 500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
