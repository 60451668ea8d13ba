// SPDX-License-Identifier: Apache-2.0
// One warp fills two slots, two warps empty them; full and empty are mbarriers waited for by parity (inline PTX).
#include "program.cuh"

__device__ unsigned Address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void Arrive(uint64_t* barrier) {
  asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(Address(barrier)) : "memory");
}
__device__ void Wait(uint64_t* barrier, int parity) {
  unsigned done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(Address(barrier)), "r"(parity)
                 : "memory");
}
__global__ void Cubes(const float* in, float* out, int steps) {
  __shared__ float slots[2][64];
  __shared__ __align__(8) uint64_t full[2], empty[2];
  const int t = threadIdx.x;
  if (t < 2) {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(Address(&full[t])) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(Address(&empty[t])) : "memory");
  }
  __syncthreads();
  if (t >= 64) {
    for (int step = 0; step < steps; ++step) {
      const int slot = step % 2, turn = step / 2;
      if (turn > 0) Wait(&empty[slot], (turn - 1) & 1);
      for (int i = t - 64; i < 64; i += 32) slots[slot][i] = in[step * 64 + i];
      Arrive(&full[slot]);
    }
  } else {
    for (int step = 0; step < steps; ++step) {
      const int slot = step % 2;
      Wait(&full[slot], step / 2 & 1);
      const float v = slots[slot][63 - t];
      out[step * 64 + t] = v * v * v;
      Arrive(&empty[slot]);
    }
  }
}
bool Test(int steps) {
  const std::vector<float> in = Random(steps).Values(steps * 64);
  std::vector<double> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const double v = in[i / 64 * 64 + 63 - i % 64];
    expected[i] = v * v * v;
  }
  Device<float> din(in), out(in.size());
  Cubes<<<1, 96>>>(din, out, steps);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(11);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
