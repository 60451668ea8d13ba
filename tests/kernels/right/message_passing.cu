// SPDX-License-Identifier: Apache-2.0
// A block hands values to the next one by release and acquire on a flag (cuda::atomic_ref).
#include "program.cuh"

#include <cuda/atomic>

__global__ void Relay(const int* in, int* mail, int* flags, int* out) {
  const int b = blockIdx.x, t = threadIdx.x;
  int v = in[b * 32 + t];
  if (b > 0) {
    if (t == 0) {
      cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[b - 1]);
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    v += mail[(b - 1) * 32 + 31 - t];
  }
  mail[b * 32 + t] = v;
  __syncthreads();
  if (t == 0) cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(1, cuda::memory_order_release);
  out[b * 32 + t] = v;
}
bool Test(int blocks) {
  Random random(blocks);
  std::vector<int> in(blocks * 32), expected(blocks * 32);
  for (int i = 0; i < blocks * 32; ++i) {
    in[i] = random.Below(100);
    expected[i] = in[i] + (i < 32 ? 0 : expected[(i / 32 - 1) * 32 + 31 - i % 32]);
  }
  Device<int> din(in), mail(blocks * 32), flags(std::vector<int>(blocks, 0)), out(blocks * 32);
  Relay<<<blocks, 32>>>(din, mail, flags, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(9);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
