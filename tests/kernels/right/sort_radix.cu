// SPDX-License-Identifier: Apache-2.0
// Sorts by 4 bits a pass, stable: counts per block, their exclusive sums, then each key to its place.
#include "program.cuh"

constexpr int kBlock = 64;
__global__ void Count(const unsigned* in, int* counts, int shift, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
__global__ void Accumulate(int* counts, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const int count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}
__global__ void Scatter(const unsigned* in, unsigned* out, const int* places, int shift, int n) {
  __shared__ unsigned char digits[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const unsigned key = i < n ? in[i] : 0;
  const int digit = i < n ? key >> shift & 15 : 16;
  digits[threadIdx.x] = static_cast<unsigned char>(digit);
  __syncthreads();
  if (i >= n) return;
  int rank = 0;
  for (int t = 0; t < threadIdx.x; ++t) rank += digits[t] == digit;
  out[places[digit * gridDim.x + blockIdx.x] + rank] = key;
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned> in(n);
  for (unsigned& key : in) key = random.Bits();
  std::vector<unsigned> expected = in;
  std::sort(expected.begin(), expected.end());
  const int blocks = (n + kBlock - 1) / kBlock;
  Device<unsigned> a(in), b(n);
  Device<int> counts(16 * blocks);
  unsigned *from = a, *to = b;
  for (int shift = 0; shift < 32; shift += 4) {
    Count<<<blocks, kBlock>>>(from, counts, shift, n);
    Accumulate<<<1, 1>>>(counts, 16 * blocks);
    Scatter<<<blocks, kBlock>>>(from, to, counts, shift, n);
    std::swap(from, to);
  }
  return Equal(a.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
