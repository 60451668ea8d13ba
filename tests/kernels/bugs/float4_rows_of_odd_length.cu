// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=9 words=only the first row of a matrix with 30 columns starts at a multiple of 16 bytes
#include "program.cuh"

__global__ void RowSums(const float* in, float* out, int cols) {
  const float4* row = reinterpret_cast<const float4*>(in + blockIdx.x * cols);
  float sum = 0;
  for (int i = threadIdx.x; i < cols / 4; i += 32) {
    const float4 v = row[i];
    sum += v.x + v.y + v.z + v.w;
  }
  for (int i = cols / 4 * 4 + threadIdx.x; i < cols; i += 32) sum += in[blockIdx.x * cols + i];
  atomicAdd(out, sum);
}
int main() {
  const int n = 90;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  RowSums<<<3, 32>>>(din, out, 30);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
