// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=7,9 words=exponentials without the row's maximum taken off overflow
#include "program.cuh"

__global__ void Softmax(const float* in, float* out, int cols) {
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(in[i] * 200);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = expf(in[i] * 200) / sum;
}
int main() {
  const std::vector<float> in = Random(7).Values(64);
  std::vector<double> expected;
  double sum = 0;
  for (float v : in) sum += std::exp(v * 200.0 - 200);
  for (float v : in) expected.push_back(std::exp(v * 200.0 - 200) / sum);
  Device<float> din(in), out(64);
  Softmax<<<1, 32>>>(din, out, 64);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
