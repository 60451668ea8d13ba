// SPDX-License-Identifier: Apache-2.0
// Sum, minimum, maximum and bitwise or of integers by redux.sync, which adds up a whole warp at once.
#include "program.cuh"

struct Totals {
  int sum, lowest, highest;
  unsigned bits;
};
__global__ void Reduce(const int* in, Totals* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i < n ? i : n - 1];
  const int sum = __reduce_add_sync(0xffffffff, i < n ? v : 0);
  const int lowest = __reduce_min_sync(0xffffffff, v), highest = __reduce_max_sync(0xffffffff, v);
  const unsigned bits = __reduce_or_sync(0xffffffff, static_cast<unsigned>(v));
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out->sum, sum);
    atomicMin(&out->lowest, lowest);
    atomicMax(&out->highest, highest);
    atomicOr(&out->bits, bits);
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n);
  Totals expected = {0, 1 << 30, -(1 << 30), 0};
  for (int& v : in) {
    v = random.Below(2000) - 1000;
    expected.sum += v;
    expected.lowest = v < expected.lowest ? v : expected.lowest;
    expected.highest = v > expected.highest ? v : expected.highest;
    expected.bits |= static_cast<unsigned>(v);
  }
  Device<int> din(in);
  Device<Totals> out(std::vector<Totals>(1, {0, 1 << 30, -(1 << 30), 0}));
  Reduce<<<(n + 127) / 128, 128>>>(din, out, n);
  const Totals got = out.Host()[0];
  return Equal(std::vector<double>{double(got.sum), double(got.lowest), double(got.highest), double(got.bits)},
               std::vector<double>{double(expected.sum), double(expected.lowest), double(expected.highest),
                                   double(expected.bits)},
               0);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(5000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
