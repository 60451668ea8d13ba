// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=8 words=the doubles start behind an odd number of floats
#include "program.cuh"

__global__ void Fill(float* memory, int floats, int doubles) {
  double* rest = reinterpret_cast<double*>(memory + floats);
  if (threadIdx.x < floats) memory[threadIdx.x] = 1;
  if (threadIdx.x < doubles) rest[threadIdx.x] = 2;
}
int main() {
  Device<float> memory(33 + 2 * 20 + 1);
  Fill<<<1, 64>>>(memory, 33, 20);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
