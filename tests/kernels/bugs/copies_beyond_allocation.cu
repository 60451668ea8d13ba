// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=12 words=cudaMemcpy copies more than the allocation holds, invalid argument
#include "program.cuh"

__global__ void Double(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
int main() {
  const std::vector<float> in = Random(100).Values(100);
  Device<float> din(100), out(100);
  CHECK(cudaMemcpy(din, in.data(), 100 * sizeof(double), cudaMemcpyHostToDevice));
  Double<<<1, 128>>>(din, out, 100);
  out.Host();
  std::printf("ok\n");
  return 0;
}
