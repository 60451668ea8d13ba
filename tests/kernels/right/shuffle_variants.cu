// SPDX-License-Identifier: Apache-2.0
// Every shuffle with every kind of width: broadcast, rotation, butterflies within 4, 8 and 16 lanes, partial masks.
#include "program.cuh"

__global__ void Shuffle(const int* in, int* out) {
  const int lane = threadIdx.x, v = in[blockIdx.x * 32 + lane];
  int* to = out + blockIdx.x * 160 + lane;
  to[0] = __shfl_sync(0xffffffff, v, (lane + 5) % 32);
  to[32] = __shfl_up_sync(0xffffffff, v, 3, 8);
  to[64] = __shfl_down_sync(0xffffffff, v, 2, 16);
  to[96] = __shfl_xor_sync(0xffffffff, v, 3, 4);
  int own = -1;
  if (lane < 16) own = __shfl_sync(0x0000ffffu, v, 15 - lane);
  to[128] = own;
}
bool Test(int warps) {
  Random random(warps);
  std::vector<int> in(warps * 32), expected(warps * 160);
  for (int& v : in) v = random.Below(1000);
  for (int w = 0; w < warps; ++w) {
    const int* v = &in[w * 32];
    int* to = &expected[w * 160];
    for (int lane = 0; lane < 32; ++lane) {
      to[lane] = v[(lane + 5) % 32];
      to[32 + lane] = lane % 8 >= 3 ? v[lane - 3] : v[lane];
      to[64 + lane] = lane % 16 + 2 < 16 ? v[lane + 2] : v[lane];
      to[96 + lane] = v[lane ^ 3];
      to[128 + lane] = lane < 16 ? v[15 - lane] : -1;
    }
  }
  Device<int> din(in), out(expected.size());
  Shuffle<<<warps, 32>>>(din, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(10);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
