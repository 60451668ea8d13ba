// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=8,9 words=a float4 is loaded from an address that is a multiple of 4 only
#include "program.cuh"

__global__ void Copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 5 > n) return;
  const float4 v = *reinterpret_cast<const float4*>(in + 1 + 4 * i);
  reinterpret_cast<float4*>(out)[i] = v;
}
int main() {
  const std::vector<float> in = Random(4).Values(257);
  Device<float> din(in), out(256);
  Copy<<<1, 64>>>(din, out, 257);
  const bool ok = Equal(out.Host(), std::vector<float>(in.begin() + 1, in.end()), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
