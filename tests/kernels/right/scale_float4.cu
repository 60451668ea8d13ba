// SPDX-License-Identifier: Apache-2.0
// Four elements a thread by 16-byte accesses; the rest, fewer than four, one at a time.
#include "program.cuh"

__global__ void Scale(const float* __restrict__ in, float* __restrict__ out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<const float4*>(in)[i];
    v.x *= factor;
    v.y *= factor;
    v.z *= factor;
    v.w *= factor;
    reinterpret_cast<float4*>(out)[i] = v;
  }
  const int tail = n / 4 * 4 + i;
  if (tail < n) out[tail] = in[tail] * factor;
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] * 1.5;
  Device<float> din(in), out(n);
  Scale<<<n / 4 / 64 + 1, 64>>>(din, out, 1.5f, n);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(3) && Test(4) && Test(255) && Test(1026) && Test(4096);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
