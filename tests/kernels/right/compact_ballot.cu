// SPDX-License-Identifier: Apache-2.0
// Keeps what is positive, in order: ballots within warps, counts of warps and blocks summed before.
#include "program.cuh"

constexpr int kBlock = 128;
__global__ void Count(const float* in, int* counts, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int kept = __syncthreads_count(i < n && in[i] > 0);
  if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}
__global__ void Compact(const float* in, const int* counts, float* out, int* total, int n) {
  __shared__ int warps[kBlock / 32];
  const int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float v = i < n ? in[i] : 0;
  const unsigned votes = __ballot_sync(0xffffffff, v > 0);
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  int place = __popc(votes & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) place += warps[w];
  for (int b = 0; b < blockIdx.x; ++b) place += counts[b];
  if (v > 0) out[place] = v;
  if (i == n - 1) *total = place + (v > 0);
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<float> expected;
  for (float v : in)
    if (v > 0) expected.push_back(v);
  const int blocks = (n + kBlock - 1) / kBlock;
  Device<float> din(in), out(std::vector<float>(n, 0.0f));
  Device<int> counts(blocks), total(1);
  Count<<<blocks, kBlock>>>(din, counts, n);
  Compact<<<blocks, kBlock>>>(din, counts, out, total, n);
  return Equal(total.Host(), std::vector<int>(1, static_cast<int>(expected.size())), 0) &&
         Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(129) && Test(2000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
