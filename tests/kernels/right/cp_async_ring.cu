// SPDX-License-Identifier: Apache-2.0
// Row sums through a ring of four buffers that cp.async fills three steps ahead (inline PTX).
#include "program.cuh"

constexpr int kStages = 4, kThreads = 64;
__global__ void RowSums(const float4* in, float* out, int steps) {
  __shared__ __align__(16) float4 ring[kStages][kThreads];
  __shared__ float sums[kThreads];
  const int t = threadIdx.x;
  in += static_cast<size_t>(blockIdx.x) * steps * kThreads;
  auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&ring[step % kStages][t]));
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + step * kThreads + t) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::
                     : "memory");  // an empty group too, so that the count stays right at the end
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    const float4 v = ring[step % kStages][(t + 1) % kThreads];  // what the neighbour has fetched
    sum += v.x + v.y + v.z + v.w;
    fetch(step + kStages - 1);
  }
  sums[t] = sum;
  __syncthreads();
  if (t != 0) return;
  for (int i = 1; i < kThreads; ++i) sum += sums[i];
  out[blockIdx.x] = sum;
}
bool Test(int rows, int steps) {
  const int cols = steps * kThreads * 4;
  const std::vector<float> in = Random(steps).Values(rows * cols);
  std::vector<double> expected(rows);
  for (int i = 0; i < rows * cols; ++i) expected[i / cols] += in[i];
  Device<float> din(in), out(rows);
  const float* pointer = din;
  RowSums<<<rows, kThreads>>>(reinterpret_cast<const float4*>(pointer), out, steps);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1) && Test(2, 3) && Test(3, 9);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
