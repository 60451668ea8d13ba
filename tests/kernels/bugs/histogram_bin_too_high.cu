// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the value 1.0 falls into a bin that doesn't exist
#include "program.cuh"

__global__ void Histogram(const float* in, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[static_cast<int>(in[i] * 10)], 1);
}
int main() {
  std::vector<float> in;
  for (int i = 0; i <= 100; ++i) in.push_back(static_cast<float>(i) / 100);
  Device<float> din(in);
  Device<int> bins(std::vector<int>(10, 0));
  Histogram<<<1, 128>>>(din, bins, 101);
  int sum = 0;
  for (int b : bins.Host()) sum += b;
  if (sum == 101) std::printf("ok\n");
  return sum == 101 ? 0 : 1;
}
