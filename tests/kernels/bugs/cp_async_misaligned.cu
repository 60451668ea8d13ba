// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=10 words=16 bytes are copied from an address that is a multiple of 4 only
#include "program.cuh"

__global__ void Copy(const float* in, float* out) {
  __shared__ __align__(16) float tile[128];
  const int t = threadIdx.x;
  const float* from = in + 1 + 4 * t;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  for (int i = t; i < 128; i += 32) out[i] = tile[i];
}
int main() {
  const std::vector<float> in = Random(4).Values(129);
  Device<float> din(in), out(128);
  Copy<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), std::vector<float>(in.begin() + 1, in.end()), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
