// SPDX-License-Identifier: Apache-2.0
// Kernels launched repeatedly, as in programs that measure times: with the same result each time, with a result that the
// next kernel undoes, after a memset, in place, and back and forth between two buffers.
#include "program.cuh"

__global__ void Double(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i];
}
__global__ void Increment(int* data, int by) { data[blockIdx.x * blockDim.x + threadIdx.x] += by; }
__global__ void Count(const int* in, int* bins) { atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 64], 1); }
__device__ int last;
__global__ void Remember(const int* in) { last = in[0] + last % 2; }

bool Test(int blocks) {
  const int n = blocks * 128, rounds = 40;
  std::vector<int> in(n), bins(64);
  for (int i = 0; i < n; ++i) in[i] = i * 7;
  for (int value : in) ++bins[value % 64];
  const auto all_are = [&](const std::vector<int>& got, int times, int plus) {
    for (int i = 0; i < n; ++i)
      if (got[i] != times * in[i] + plus) return false;
    return true;
  };
  Device<int> a(in), b(n), counts(64);
  for (int round = 0; round < rounds; ++round) Double<<<blocks, 128>>>(a, b);
  bool ok = all_are(b.Host(), 2, 0);
  for (int round = 0; round < rounds; ++round) {
    Double<<<blocks, 128>>>(a, b);
    if (round % 10 == 9) ok = ok && all_are(b.Host(), 2, 0);
    Increment<<<blocks, 128>>>(b, 3);
    if (round % 10 == 9) ok = ok && all_are(b.Host(), 2, 3);
    CHECK(cudaMemset(counts, 0, 64 * sizeof(int)));
    Count<<<blocks, 128>>>(a, counts);
    if (round % 10 == 9) ok = ok && counts.Host() == bins;
  }
  for (int round = 0; round < rounds; ++round) Increment<<<blocks, 128>>>(b, round % 2);
  ok = ok && all_are(b.Host(), 2, 3 + rounds / 2);
  for (int round = 0; round < rounds; ++round) Increment<<<blocks, 128>>>(b, 1);
  ok = ok && all_are(b.Host(), 2, 3 + rounds / 2 + rounds);
  for (int round = 0; round < 10; ++round) {
    Double<<<blocks, 128>>>(a, b);
    Double<<<blocks, 128>>>(b, a);
  }
  ok = ok && all_are(a.Host(), 1 << 20, 0);
  for (int round = 0; round < 10; ++round) {
    const int values[] = {round / 5, 0};
    CHECK(cudaMemcpyToSymbol(last, values, sizeof(int)));
    CHECK(cudaMemcpy(a, values, sizeof(int), cudaMemcpyHostToDevice));
    for (int i = 0; i < 20; ++i) Remember<<<1, 1>>>(a);
    int got = -1;
    CHECK(cudaMemcpyFromSymbol(&got, last, sizeof got));
    int expected = values[0];
    for (int i = 0; i < 20; ++i) expected = values[0] + expected % 2;
    ok = ok && got == expected;
  }
  return ok;
}
int main() {
  const bool ok = Test(1) && Test(40);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
