// SPDX-License-Identifier: Apache-2.0
// silu(gate) * up in half precision, eight values a load of 16 bytes.
#include "program.cuh"
#include <cuda_fp16.h>

struct __align__(16) Eight {
  __half2 v[4];
};
__global__ void Swiglu(const Eight* gate, const Eight* up, Eight* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Eight g = gate[i], u = up[i];
  Eight result;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 a = __half22float2(g.v[j]), b = __half22float2(u.v[j]);
    result.v[j] = __floats2half2_rn(a.x / (1 + __expf(-a.x)) * b.x, a.y / (1 + __expf(-a.y)) * b.y);
  }
  out[i] = result;
}
bool Test(int n) {
  Random random(n);
  std::vector<Eight> gate(n), up(n);
  std::vector<double> expected, got;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 4; ++j) {
      const __half2 g = __floats2half2_rn(random.Uniform() * 6, random.Uniform() * 6),
                    u = __floats2half2_rn(random.Uniform(), random.Uniform());
      gate[i].v[j] = g;
      up[i].v[j] = u;
      const double a = __half2float(g.x), b = __half2float(g.y);
      expected.push_back(a / (1 + std::exp(-a)) * __half2float(u.x));
      expected.push_back(b / (1 + std::exp(-b)) * __half2float(u.y));
    }
  }
  Device<Eight> dgate(gate), dup(up), out(n);
  Swiglu<<<(n + 63) / 64, 64>>>(dgate, dup, out, n);
  for (const Eight& e : out.Host())
    for (const __half2& h : e.v) got.push_back(__half2float(h.x)), got.push_back(__half2float(h.y));
  return Equal(got, expected, 2e-3);
}
int main() {
  const bool ok = Test(1) && Test(63) && Test(300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
