// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the input is freed before the launch that reads it
#include "program.cuh"

__global__ void Copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
int main() {
  const std::vector<float> in = Random(3).Values(256);
  Device<float> out(256);
  float* data = nullptr;
  CHECK(cudaMalloc(&data, 256 * sizeof(float)));
  CHECK(cudaMemcpy(data, in.data(), 256 * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaFree(data));
  Copy<<<2, 128>>>(data, out, 256);
  const bool ok = Equal(out.Host(), in, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
