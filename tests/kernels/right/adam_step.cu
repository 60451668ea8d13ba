// SPDX-License-Identifier: Apache-2.0
// One step of Adam over parameters and moments in place, four outputs a thread.
#include "program.cuh"

__global__ void Adam(float* p, float* m, float* v, const float* g, float rate, float c1, float c2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float gi = g[i], mi = 0.9f * m[i] + 0.1f * gi, vi = 0.999f * v[i] + 0.001f * gi * gi;
  m[i] = mi;
  v[i] = vi;
  p[i] -= rate * (mi / c1) / (sqrtf(vi / c2) + 1e-8f);
}
bool Test(int n, int steps) {
  Random random(n);
  const std::vector<float> start = random.Values(n), zeros(n, 0.0f);
  std::vector<double> p(start.begin(), start.end()), m(n), v(n);
  Device<float> dp(start), dm(zeros), dv(zeros);
  for (int s = 1; s <= steps; ++s) {
    const std::vector<float> g = random.Values(n);
    const double c1 = 1 - std::pow(0.9, s), c2 = 1 - std::pow(0.999, s);
    for (int i = 0; i < n; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      p[i] -= 0.01 * (m[i] / c1) / (std::sqrt(v[i] / c2) + 1e-8);
    }
    Device<float> dg(g);
    Adam<<<(n + 127) / 128, 128>>>(dp, dm, dv, dg, 0.01f, static_cast<float>(c1), static_cast<float>(c2), n);
    CHECK(cudaDeviceSynchronize());
  }
  return Equal(dp.Host(), p, 1e-4) && Equal(dm.Host(), m, 1e-5);
}
int main() {
  const bool ok = Test(1, 1) && Test(129, 3) && Test(1000, 5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
