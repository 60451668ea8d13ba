// SPDX-License-Identifier: Apache-2.0
// Counts of bytes: in shared memory first, then added to the totals; four bytes a load.
#include "program.cuh"

__global__ void Histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const uchar4* words = reinterpret_cast<const uchar4*>(in);
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 4; i += gridDim.x * blockDim.x) {
    const uchar4 v = words[i];
    atomicAdd(&own[v.x], 1);
    atomicAdd(&own[v.y], 1);
    atomicAdd(&own[v.z], 1);
    atomicAdd(&own[v.w], 1);
  }
  if (first < n % 4) atomicAdd(&own[in[n / 4 * 4 + first]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (own[i] > 0) atomicAdd(&bins[i], own[i]);
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned char> in(n);
  std::vector<unsigned> expected(256);
  for (unsigned char& v : in) {
    v = static_cast<unsigned char>(random.Below(16) * random.Below(17));
    ++expected[v];
  }
  Device<unsigned char> din(in);
  Device<unsigned> bins(std::vector<unsigned>(256, 0));
  Histogram<<<3, 96>>>(din, bins, n);
  return Equal(bins.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(1023) && Test(20000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
