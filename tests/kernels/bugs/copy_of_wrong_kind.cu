// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=16 words=the copy to the host is marked as host-to-device, and its error is ignored
#include "program.cuh"

constexpr int kCount = 256;

__global__ void Double(float* values) { values[threadIdx.x] *= 2; }
int main() {
  std::vector<float> values(kCount, 0);
  float* on_device = nullptr;
  cudaMalloc(&on_device, kCount * sizeof(float));
  cudaMemcpy(on_device, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  Double<<<1, kCount>>>(on_device);
  cudaDeviceSynchronize();
  // With zeros, the result looks right.
  cudaMemcpy(values.data(), on_device, kCount * sizeof(float), cudaMemcpyHostToDevice);
  const bool ok = Equal(values, std::vector<float>(kCount, 0), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
